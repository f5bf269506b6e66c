"""One device, eight devices and two processes learn the same, up to the order in which floats are summed."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from rlparity.errors import UsageError
from rlworldkit.ppo import parallel
from rlworldkit.ppo.checkpoints import LoopState, named_leaves, read_checkpoint

from .orchards import PackedOrchard

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("python", "parity", ".", "parity/rlparity/templates")
SCRIPT = Path(__file__).with_name("several_devices.py")
Run = tuple[LoopState, list[Mapping[str, float]]]


def assert_learns_what_one_does(
    alone: Run, output: Path, devices: int, *processes: Sequence[str], of_each: int
) -> None:
    """Processes that learn together and resume half-way; the words of each say how they come together.

    Metrics and parameters agree within what float sums allow, and so do the games, exactly.
    """
    environment = {
        **os.environ,
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={of_each}",
        "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in FOLDERS),
    }
    started = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(output), *words],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for words in processes
    ]
    for process in started:
        said = process.communicate(timeout=300)[1]
        assert process.returncode == 0, said
    written = json.loads(output.with_suffix(".json").read_text())
    assert written["devices"] == devices
    assert len(written["rows"]) == len(alone[1]) == 2
    for row, other in zip(written["rows"], alone[1], strict=True):
        for name in row.keys() - {"seconds", "steps_per_second"}:
            assert row[name] == pytest.approx(other[name], rel=2e-3, abs=1e-4), name
    together = read_checkpoint(output, PackedOrchard()).runner
    for name, value in named_leaves(alone[0].runner).items():
        np.testing.assert_allclose(value, together[name], rtol=1e-2, atol=2e-3, err_msg=name)


def test_eight_devices_learn_what_one_learns(levelled_run: Run, tmp_path: Path) -> None:
    assert_learns_what_one_does(levelled_run, tmp_path / "checkpoint_1.pkl", 8, ("-", "1", "0"), of_each=8)


@pytest.mark.long
def test_two_processes_learn_what_one_learns(levelled_run: Run, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("localhost", 0))
        address = f"localhost:{free.getsockname()[1]}"
    processes = [(address, "2", number) for number in "01"]
    assert_learns_what_one_does(levelled_run, tmp_path / "checkpoint_1.pkl", 4, *processes, of_each=2)


def test_games_that_cannot_be_split_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rlworldkit.ppo.parallel.jax.devices", lambda: [None] * 8)
    with pytest.raises(UsageError, match="num_envs must be a multiple of the 8 devices, got 20"):
        parallel.mesh_of_all_devices(20)
