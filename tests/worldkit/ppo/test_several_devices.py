"""One device, eight devices and two processes learn the same, up to the order in which floats are summed."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from parity.errors import UsageError
from worldkit.ppo import parallel
from worldkit.ppo.checkpoints import Checkpoint, read_checkpoint

from .orchards import PackedOrchard

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = Path(__file__).with_name("several_devices.py")
TIMINGS = ("seconds", "steps_per_second")


def start(output: Path, devices: int, coordinator: str = "-", processes: int = 1, number: int = 0) -> Any:  # noqa: ANN401
    """Start a training process that has so many devices."""
    environment = {
        **os.environ,
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
        "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("python", ".", "tests/parity")),
    }
    command = [sys.executable, str(SCRIPT), str(output), coordinator, str(processes), str(number)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def outcome(output: Path, *started: Any) -> tuple[dict[str, Any], Checkpoint]:  # noqa: ANN401
    """What the processes wrote, once they have ended well."""
    for process in started:
        said = process.communicate(timeout=300)[1]
        assert process.returncode == 0, said
    return json.loads(output.with_suffix(".json").read_text()), read_checkpoint(output, PackedOrchard())


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Checkpoint]:
    """A run on one device."""
    output = tmp_path_factory.mktemp("alone") / "checkpoint_1.pkl"
    return outcome(output, start(output, 1))


def assert_same_learning(left: tuple[dict[str, Any], Checkpoint], right: tuple[dict[str, Any], Checkpoint]) -> None:
    """Metrics and parameters agree within what float sums allow, and so do the games, exactly."""
    assert len(left[0]["rows"]) == len(right[0]["rows"]) == 2
    for row, other in zip(left[0]["rows"], right[0]["rows"], strict=True):
        for name in row:
            if name not in TIMINGS:
                assert row[name] == pytest.approx(other[name], rel=2e-3, abs=1e-4), name
    for name, value in left[1].runner.items():
        np.testing.assert_allclose(value, right[1].runner[name], rtol=1e-2, atol=2e-3, err_msg=name)


def test_eight_devices_learn_what_one_learns(alone: tuple[dict[str, Any], Checkpoint], tmp_path: Path) -> None:
    output = tmp_path / "checkpoint_1.pkl"
    eight = outcome(output, start(output, 8))
    assert (alone[0]["devices"], eight[0]["devices"]) == (1, 8)
    assert_same_learning(alone, eight)


@pytest.mark.long
def test_two_processes_learn_what_one_learns(alone: tuple[dict[str, Any], Checkpoint], tmp_path: Path) -> None:
    output = tmp_path / "checkpoint_1.pkl"
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    two = outcome(output, *(start(output, 2, address, 2, number) for number in (0, 1)))
    assert two[0]["devices"] == 4
    assert_same_learning(alone, two)


def test_games_that_cannot_be_split_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldkit.ppo.parallel.jax.devices", lambda: [None] * 8)
    with pytest.raises(UsageError, match="num_envs must be a multiple of the 8 devices, got 20"):
        parallel.mesh_of_all_devices(20)
