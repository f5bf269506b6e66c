"""The command that trains, on Orchard, from the command line to the files of a run."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import pytest
from orchard import WORLD
from orchard.env import OrchardJaxEnv

from rlworldkit.cli.app import main as command
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.params import load_params
from rlworldkit.runs.folder import run_folder
from rlworldkit.runs.sinks import read_csv
from tests.rlworldkit.ppo.sealing import payload_of, sealed
from tests.rlworldkit.runs.conftest import SIZES

ENV = OrchardJaxEnv()
FLAGS = " ".join(SIZES)
pytestmark = pytest.mark.usefixtures("no_picture")


def main(flags: list[str]) -> int:
    """The command in this process."""
    return command(WORLD, ["train", *flags])


class Run(NamedTuple):
    """A finished run of the command."""

    exit_code: int
    folder: Path
    output: str


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Orchard, trained for three small updates."""
    folder = tmp_path_factory.mktemp("checkpoints")
    return call(folder, f"{FLAGS} --total-timesteps 200 --run-name first")


def call(folder: Path, flags: str) -> Run:
    """Run the command in this process, with runs in ``folder``."""
    stream = folder / "output.txt"
    with pytest.MonkeyPatch.context() as patch, stream.open("w") as file:
        patch.setattr(sys, "stdout", file)
        code = main([*flags.split(), "--no-wandb", "--checkpoint-dir", str(folder)])
    output = stream.read_text()
    stream.unlink()
    newest = max((path for path in folder.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime_ns)
    return Run(code, newest, output)


def test_compiling_is_told_apart_from_training_and_a_longer_run_is_proposed(finished: Run) -> None:
    lines = finished.output.splitlines()
    assert all(any(line.startswith(word) for line in lines) for word in ("Compiling", "Compiled in"))
    assert any(line.startswith("Trained 192 steps in") and "of compiling" in line for line in lines)
    assert lines[-1].endswith("--total-timesteps 2000")


def test_the_name_of_a_run_that_came_to_nothing_can_be_used_again(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "metrics.csv").touch()
    assert run_folder(tmp_path.parent, "--checkpoint-dir", "orchard", 0, tmp_path.name) == tmp_path
    assert (tmp_path / "config.json").exists()


@pytest.mark.long
def test_a_killed_run_resumes_in_another_process_as_if_nothing_had_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3] / "parity/rlparity/templates"))

    def begun(flags: str) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "orchard", "train", "--no-wandb", *flags.split()]
        return subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL)

    killed, straight = (tmp_path / "checkpoints" / name for name in ("killed", "straight"))
    process = begun(f"{FLAGS} --save-interval 4 --total-timesteps 1000000000 --run-name killed")
    while not (killed / "checkpoint_8.pkl").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert begun(f"--resume {killed}/checkpoint_8.pkl --total-timesteps 1280").wait() == 0
    assert begun(f"{FLAGS} --run-name straight --total-timesteps 1280").wait() == 0
    left, right = (read_checkpoint(folder / "checkpoint_20.pkl", ENV).runner for folder in (killed, straight))
    assert {name: leaf.tobytes() for name, leaf in left.items()} == {
        name: leaf.tobytes() for name, leaf in right.items()
    }
    timings = dict.fromkeys(("seconds", "steps_per_second"))
    rows, wanted = (
        [{**json.loads(line), **timings} for line in (folder / "metrics.jsonl").read_text().splitlines()]
        for folder in (killed, straight)
    )
    assert rows == wanted


def test_another_network_is_one_sentence(finished: Run, refused: Callable[..., str]) -> None:
    flags = ["--no-wandb", "--resume", str(finished.folder / "checkpoint_3.pkl"), "--total-timesteps", "1000"]
    said = refused("train", *flags, "--hidden-dim", "16")
    assert "resume without --network, --hidden-dim, --num-layers, --activation, --value-head, --priv" in said


def test_another_seed_for_the_same_games_is_refused(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    before = (finished.folder / "config.json").read_bytes()
    flags = ["--resume", str(finished.folder / "checkpoint_3.pkl"), "--total-timesteps", "1000", "--seed", "77"]
    with pytest.raises(SystemExit) as caught:
        main([*flags, "--no-wandb", "--checkpoint-dir", "elsewhere"])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert "are those of seed 0: leave --seed out" in said.err
    assert said.out == f"--checkpoint-dir has no effect: the run continues in {finished.folder}.\n"
    assert (finished.folder / "config.json").read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        ("--num 3", "--num 3"),
        ("--num-minibatches 7", "num_minibatches must divide"),
        ("--total-timesteps 100", "total_timesteps"),
        ("--resume somewhere.pkl", "there is no checkpoint somewhere.pkl"),
        ("--resume latest", "there is no good checkpoint_*.pkl file"),
        ("--preset quick", "--preset must be left out, since this world has none, got 'quick'."),
        ("--rewind", "--rewind goes with --resume"),
        ("--resume latest --init-from best", "--init-from does not go with --resume"),
        ("--resume latest --run-suffix b", "--run-suffix does not go with --resume"),
        ("--run-name a --run-suffix b", "--run-suffix does not go with --run-name"),
        ("--process-id 0", "--coordinator, --num-processes and --process-id go with --distributed"),
        ("--dtype float8", "--dtype: it must be float32 or bfloat16"),
        ("--init-from nothing.npz", "there is no file of parameters nothing.npz"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    flags: str, fault: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    assert fault in refused("train", "--checkpoint-dir", str(tmp_path), *flags.split())
    assert list(tmp_path.iterdir()) == []


def test_a_run_learns_from_its_prices_and_records_them(finished: Run, tmp_path: Path) -> None:
    priced = call(tmp_path, f"{FLAGS} --total-timesteps 64 --price step=0.5 --price sting=-2")
    (own, *_), (other,) = (read_csv(run.folder / "metrics.csv") for run in (finished, priced))
    for component, factor in (("step", -50), ("fruit", 1), ("sting", 4)):
        name = f"reward/{component}"
        assert other[name] == pytest.approx(factor * own[name], rel=1e-6)
        assert own[name]
    for folder, last, prices in ((finished.folder, 3, {}), (priced.folder, 1, {"step": 0.5, "sting": -2.0})):
        assert json.loads((folder / "config.json").read_text())["prices"] == prices
        assert read_checkpoint(folder / f"checkpoint_{last}.pkl", ENV).config["prices"] == prices


def test_a_checkpoint_of_an_earlier_version_is_of_the_world_s_own_prices(finished: Run, tmp_path: Path) -> None:
    payload = payload_of((finished.folder / "checkpoint_3.pkl").read_bytes())
    del payload["config"]["prices"]
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoint_3.pkl").write_bytes(sealed(payload))
    resumed = call(tmp_path, f"--resume {tmp_path}/run/checkpoint_3.pkl --total-timesteps 256")
    assert json.loads((resumed.folder / "config.json").read_text())["prices"] == {}


def test_a_run_can_begin_with_the_parameters_of_another(finished: Run, tmp_path: Path) -> None:
    """Adam moves a number by the learning rate at most in each of an update's 8 steps, and all else is a new run."""
    first = finished.folder / "params_3.npz"
    run = call(tmp_path, f"{FLAGS} --total-timesteps 64 --init-from {first} --seed 4")
    assert f"from the parameters in {first}." in run.output
    before, after = load_params(first), load_params(run.folder / "params_1.npz")
    assert all(map(partial(np.allclose, rtol=0, atol=8.1 * 2.5e-4), *map(jax.tree.leaves, (before, after))))
    assert read_checkpoint(run.folder / "checkpoint_1.pkl", ENV).progress.timesteps == 64


def test_files_that_do_not_fit_are_one_sentence_and_exit_code_2(
    finished: Run, tmp_path: Path, refused: Callable[..., str]
) -> None:
    os.mkfifo(tmp_path / "pipe.pkl")
    for name, wrong in (("gamma", "high"), ("prices", [1]), ("prices", {"step": "0.5"})):
        payload = payload_of((finished.folder / "checkpoint_3.pkl").read_bytes())
        payload["config"][name] = wrong
        (tmp_path / f"{type(wrong).__name__}.pkl").write_bytes(sealed(payload))
    another = "--network mlp --hidden-dim 8 --num-layers 1 --value-head plain"
    for flag, path, fault in (
        ("--init-from", finished.folder / "params_3.npz", another),
        ("--resume", tmp_path / "pipe.pkl", "pipe.pkl cannot be read as a checkpoint: it is a pipe, a device"),
        ("--resume", tmp_path / "str.pkl", "str.pkl keeps 'high' as gamma, which must be a number"),
        ("--resume", tmp_path / "list.pkl", "list.pkl keeps a value of type list as prices, which must be numbers by"),
        ("--resume", tmp_path / "dict.pkl", "dict.pkl keeps a value of type dict as prices, which must be numbers by"),
        ("--resume", tmp_path / ("x" * 300), "File name too long"),
    ):
        assert fault in refused("train", "--no-wandb", "--checkpoint-dir", str(tmp_path / "runs"), flag, str(path))
    assert not (tmp_path / "runs").exists()
