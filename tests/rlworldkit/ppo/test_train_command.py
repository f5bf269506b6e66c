"""The command that trains, on Orchard, from the command line to the files of a run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import matplotlib.image
import numpy as np
import pytest
from toy_world.adapter import PROGRAM, OrchardJaxEnv

from rlworldkit.cli.app import main as command
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.params import load_params
from rlworldkit.runs.folder import run_folder
from rlworldkit.runs.run import Run as RunOfTraining
from rlworldkit.runs.sinks import read_csv
from tests.terminals import default_signals

from .sealing import payload_of, sealed

ENV = OrchardJaxEnv()
FLAGS = "--num-envs 8 --num-steps 16 --hidden-dim 16 --num-layers 3 --log-interval 2"


def main(flags: list[str]) -> int:
    """The command in this process."""
    return command(PROGRAM, ["train", *flags])


class Run(NamedTuple):
    """A finished run of the command."""

    exit_code: int
    folder: Path
    output: str


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Orchard, trained for three small updates of which two are logged together."""
    folder = tmp_path_factory.mktemp("checkpoints")
    return call(folder, f"{FLAGS} --total-timesteps 400 --run-name first")


def call(folder: Path, flags: str) -> Run:
    """Run the command in this process, with runs in ``folder``."""
    stream = folder / "output.txt"
    with pytest.MonkeyPatch.context() as patch, stream.open("w") as file:
        patch.setenv("WANDB_MODE", "offline")
        patch.setattr(sys, "stdout", file)
        code = main([*flags.split(), "--checkpoint-dir", str(folder)])
    output = stream.read_text()
    stream.unlink()
    newest = max((path for path in folder.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime_ns)
    return Run(code, newest, output)


def test_a_run_leaves_its_files_and_says_where(finished: Run) -> None:
    assert finished.exit_code == 0
    named = {"params_3.npz", "checkpoint_3.pkl", "metrics.csv", "learning_curve.png", "config.json"}
    assert {path.name for path in finished.folder.iterdir()} == named | {
        "metrics.jsonl",
        "run.lock",
        "tensorboard",
        "wandb",
    }
    for name in named:
        assert str(finished.folder / name) in finished.output
    assert "\nWatch it play: " in finished.output
    assert finished.output.rstrip().endswith("--total-timesteps 4000")
    assert matplotlib.image.imread(finished.folder / "learning_curve.png").size > 0
    settings = json.loads((finished.folder / "config.json").read_text())
    wanted = {"run_name": "first", "max_steps": None, "num_envs": 8, "num_steps": 16, "learning_rate": 2.5e-4}
    assert {name: settings[name] for name in wanted} == wanted
    # compiling is reported apart from training
    lines = finished.output.splitlines()
    assert any(line.startswith("Compiling") for line in lines)
    assert any(line.startswith("Compiled in") for line in lines)
    assert any(line.startswith("Trained 384 steps in") and "of compiling" in line for line in lines)


def test_a_run_never_overwrites_another(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path.name: path.read_bytes() for path in finished.folder.iterdir() if path.is_file()}
    with pytest.raises(SystemExit) as caught:
        call(finished.folder.parent, f"{FLAGS} --total-timesteps 400 --run-name first")
    assert caught.value.code == 2
    assert "already holds a run" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in finished.folder.iterdir() if path.is_file()} == before


def test_the_name_of_a_run_that_came_to_nothing_can_be_used_again(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "metrics.csv").touch()
    assert run_folder(tmp_path.parent, "--checkpoint-dir", "orchard", 0, tmp_path.name) == tmp_path
    assert (tmp_path / "config.json").exists()


def test_a_terminal_that_closes_saves_and_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunOfTraining, "write", lambda run, metrics: signal.raise_signal(signal.SIGHUP))
    with default_signals():
        run = call(tmp_path, f"{FLAGS} --no-wandb --total-timesteps 4000 --run-name closed")
    assert run.exit_code == 0
    assert "Stopping after the current chunk" in run.output
    assert f"--resume {run.folder}/checkpoint_2.pkl" in run.output
    assert (run.folder / "params_2.npz").exists()


def test_resuming_goes_on_in_the_same_folder(finished: Run, tmp_path: Path) -> None:
    shutil.copytree(finished.folder, tmp_path / "first")
    flags = f"--resume {tmp_path}/first/checkpoint_3.pkl --total-timesteps 800 --no-artifact"
    resumed = call(tmp_path, flags)
    assert resumed.exit_code == 0
    is_same_run_on_wandb(finished.folder, resumed.folder)
    assert "after the 3 of" in resumed.output
    # the settings of a resumed run are the checkpoint's, which its command line does not tell
    assert ["Next, a run" in run.output for run in (finished, resumed)] == [True, False]
    assert {"params_6.npz", "checkpoint_6.pkl"} <= {path.name for path in resumed.folder.iterdir()}
    updates = [row["update"] for row in read_csv(tmp_path / "first" / "metrics.csv")]
    assert updates == [2, 3, 4, 6]
    lines = (tmp_path / "first" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["update"] for line in lines] == updates


def is_same_run_on_wandb(first: Path, resumed: Path) -> None:
    """Both sessions wrote to one run, every metric, and checkpoints unless told not to."""
    identifiers = {json.loads((folder / "config.json").read_text())["wandb_id"] for folder in (first, resumed)}
    (identifier,) = identifiers
    sessions = sorted((resumed / "wandb").glob(f"offline-run-*/run-{identifier}.wandb"))
    assert len(sessions) == 2
    names = (b"train/entropy_ratio", b"reward/step", b"actions/pick_frac", b"stats/best_score")
    deadline = time.monotonic() + 20  # W&B writes in a process of its own, which may be behind
    while not all(name in session.read_bytes() for session in sessions for name in names):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    logged = [session.read_bytes() for session in sessions]
    assert b"checkpoint_3.pkl" in logged[0]
    assert b"checkpoint_6.pkl" not in logged[1]


@pytest.mark.long
def test_a_killed_run_resumes_in_another_process_as_if_nothing_had_happened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "parity"))

    def begun(flags: str) -> "subprocess.Popen[bytes]":
        words = [sys.executable, "-m", "toy_world", "train", "--no-wandb", *flags.split()]
        return subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL)

    killed, straight = (tmp_path / "checkpoints" / name for name in ("killed", "straight"))
    process = begun(f"{FLAGS} --save-interval 4 --total-timesteps 1000000000 --run-name killed")
    while not (killed / "checkpoint_8.pkl").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert begun(f"--resume {killed}/checkpoint_8.pkl --total-timesteps 2560").wait() == 0
    assert begun(f"{FLAGS} --run-name straight --total-timesteps 2560").wait() == 0
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


def test_a_checkpoint_that_has_had_all_its_steps_is_one_sentence(
    finished: Run, tmp_path: Path, refused: Callable[..., str]
) -> None:
    for branch in ([], ["--run-name", "branch"]):
        flags = ["--resume", str(finished.folder / "checkpoint_3.pkl"), *branch, "--checkpoint-dir", str(tmp_path)]
        assert "has had its 384 steps: ask for more with --total-timesteps" in refused("train", *flags)
        assert list(tmp_path.iterdir()) == []


def test_another_network_is_one_sentence(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--no-wandb", "--resume", str(finished.folder / "checkpoint_3.pkl"), "--total-timesteps", "1000"]
    assert main([*flags, "--hidden-dim", "8"]) == 1
    said = capsys.readouterr().err
    assert "resume without --network, --hidden-dim, --num-layers, --activation, --value-head, --priv" in said


def test_another_seed_for_the_same_games_is_refused(finished: Run, capsys: pytest.CaptureFixture[str]) -> None:
    before = (finished.folder / "config.json").read_bytes()
    flags = ["--resume", str(finished.folder / "checkpoint_3.pkl"), "--total-timesteps", "1000", "--seed", "77"]
    with pytest.raises(SystemExit) as caught:
        main([*flags, "--no-wandb", "--checkpoint-dir", "elsewhere"])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert "began with seed 0: leave --seed out" in said.err
    assert said.out == f"--checkpoint-dir has no effect: the run continues in {finished.folder}.\n"
    assert (finished.folder / "config.json").read_bytes() == before


@pytest.mark.parametrize(
    ("flags", "fault"),
    [
        ("--num 3", "--num 3"),
        ("--num-minibatches 7", "num_minibatches must divide"),
        ("--total-timesteps 100", "total_timesteps"),
        ("--resume somewhere.pkl", "somewhere.pkl does not exist"),
        ("--resume latest", "there is no good checkpoint_*.pkl file"),
        ("--preset quick", "--preset must be left out, since this world has none, got 'quick'."),
        ("--rewind", "--rewind goes with --resume"),
        ("--resume latest --init-from best", "--init-from does not go with --resume"),
        ("--resume latest --run-suffix b", "--run-suffix does not go with --resume"),
        ("--run-name a --run-suffix b", "--run-suffix does not go with --run-name"),
        ("--process-id 0", "--coordinator, --num-processes and --process-id go with --distributed"),
        ("--dtype float8", "--dtype: it must be float32 or bfloat16"),
        ("--init-from nothing.npz", "nothing.npz does not exist"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(
    flags: str, fault: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    assert fault in refused("train", "--checkpoint-dir", str(tmp_path), *flags.split())
    assert list(tmp_path.iterdir()) == []


def test_a_run_can_begin_with_the_parameters_of_another(finished: Run, tmp_path: Path) -> None:
    """Adam moves a number by the learning rate at most in each of an update's 16 steps, and all else is a new run."""
    first = finished.folder / "params_3.npz"
    run = call(tmp_path, f"{FLAGS} --total-timesteps 128 --init-from {first} --no-wandb --seed 4")
    assert f"from the parameters in {first}." in run.output
    before, after = load_params(first), load_params(run.folder / "params_1.npz")
    assert all(map(partial(np.allclose, rtol=0, atol=16.1 * 2.5e-4), *map(jax.tree.leaves, (before, after))))
    assert read_checkpoint(run.folder / "checkpoint_1.pkl", ENV).progress.timesteps == 128


def test_files_that_do_not_fit_are_one_sentence_and_exit_code_2(
    finished: Run, tmp_path: Path, refused: Callable[..., str]
) -> None:
    os.mkfifo(tmp_path / "pipe.pkl")
    payload = payload_of((finished.folder / "checkpoint_3.pkl").read_bytes())
    payload["config"]["gamma"] = "high"
    (tmp_path / "wrong.pkl").write_bytes(sealed(payload))
    another = "--network mlp --hidden-dim 16 --num-layers 3 --value-head plain"
    for flag, path, fault in (
        ("--init-from", finished.folder / "params_3.npz", another),
        ("--resume", tmp_path / "pipe.pkl", "pipe.pkl cannot be read (it is a pipe, a device or the like)"),
        ("--resume", tmp_path / "wrong.pkl", "wrong.pkl keeps 'high' as gamma, which must be a number"),
        ("--resume", tmp_path / ("x" * 300), "File name too long"),
    ):
        assert fault in refused("train", "--no-wandb", "--checkpoint-dir", str(tmp_path / "runs"), flag, str(path))
    assert not (tmp_path / "runs").exists()


def test_an_output_folder_that_cannot_be_written_is_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "file").touch()
    assert "cannot be written" in refused("train", "--checkpoint-dir", str(tmp_path / "file" / "runs"))
