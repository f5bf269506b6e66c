"""One process at a time trains into a folder, and whoever dies lets go of it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rlparity.errors import UsageError
from rlworldkit.runs.folder import locked, run_folder
from rlworldkit.runs.run import Run
from tests.rlworldkit.runs.conftest import SIZES

BUSY = "Another process is training into {}: let it end first, or start a run of another name."
JAX = ["train", *SIZES, "--no-wandb"]
SB3 = ["train-sb3", "--num-envs", "2", "--n-steps", "32", "--batch-size", "32", "--no-wandb"]

HOLDING = """
import os, subprocess, sys, time
from pathlib import Path
from rlworldkit.runs.folder import locked
with locked(Path(sys.argv[1])):
    if sys.argv[2] == "program":
        print(subprocess.Popen(["sleep", "60"]).pid, flush=True)
    elif os.fork() == 0:
        print(os.getpid(), flush=True)
    time.sleep(60)
"""


def is_free(folder: Path) -> bool:
    """Return whether a run could begin there."""
    try:
        with locked(folder):
            return True
    except UsageError:
        return False


def test_a_second_run_is_refused_until_the_first_is_over_or_has_failed(tmp_path: Path) -> None:
    with Run(tmp_path):
        with pytest.raises(UsageError, match="Another process is training into"), Run(tmp_path):
            pass
        assert not is_free(tmp_path)
    assert is_free(tmp_path)
    assert (tmp_path / "run.lock").stat().st_size == 0
    (tmp_path / "metrics.csv").touch()  # an empty folder would go with the run that fails
    with pytest.raises(RuntimeError, match="in the middle"), Run(tmp_path):
        raise RuntimeError("in the middle")
    assert is_free(tmp_path)


@pytest.mark.parametrize(("words", "parent"), [(JAX, "--checkpoint-dir"), (SB3, "--models-dir")])
def test_a_run_that_fails_before_it_writes_anything_leaves_no_folder_and_is_not_announced(
    words: list[str],
    parent: str,
    tmp_path: Path,
    refused: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise UsageError("The engine cannot start.")

    monkeypatch.setattr("rlworldkit.ppo.training.parallel.mesh_of_all_devices", refuse)
    monkeypatch.setattr("rlworldkit.sb3.training.WorldVecEnv", refuse)
    said = refused(*words, parent, str(tmp_path / "runs"), "--run-name", "mine")
    assert (said, list((tmp_path / "runs").iterdir())) == ("The engine cannot start.\n", [])


@pytest.mark.parametrize("kind", ["fork", "program"])
def test_the_lock_dies_with_its_owner_whatever_children_it_leaves(tmp_path: Path, kind: str) -> None:
    words = [sys.executable, "-c", HOLDING, str(tmp_path), kind]
    owner = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    child = int(owner.stdout.readline())
    try:
        assert not is_free(tmp_path)
        owner.kill()
        owner.wait()
        os.kill(child, 0)  # it lives on
        assert is_free(tmp_path)
    finally:
        os.kill(child, signal.SIGKILL)
        owner.stdout.close()


@pytest.fixture
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither trainer gets as far as that."""

    def too_late(*_: object, **__: object) -> None:
        raise AssertionError("it should have been refused before")

    monkeypatch.setattr("rlworldkit.ppo.training.compile_training", too_late)
    monkeypatch.setattr("rlworldkit.sb3.training.WorldVecEnv", too_late)


@pytest.mark.parametrize(
    "words",
    [
        [*JAX, "--checkpoint-dir", "{parent}", "--run-name", "mine"],
        [*SB3, "--models-dir", "{parent}", "--run-name", "mine"],
        [*SB3, "--resume", "{parent}/mine/final_model.zip"],
    ],
    ids=["train", "train-sb3", "resume"],
)
def test_two_commands_with_one_name_are_one_run(
    words: list[str], tmp_path: Path, refused: Callable[..., str], nothing_is_compiled: None
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "final_model.zip").touch()
    with locked(tmp_path / "mine"):
        said = refused(*(word.format(parent=tmp_path) for word in words))
    assert said == BUSY.format(tmp_path / "mine") + "\n"


def test_runs_that_begin_in_the_same_moment_get_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_folder(tmp_path, "--checkpoint-dir", "orchard", 0, None, "mine").name.endswith("-mine")
    monkeypatch.setattr("rlworldkit.runs.folder.fresh_run_name", lambda kind, seed: "same")
    exists = Path.exists
    # each finds the name free, as both do who look before either has made it
    monkeypatch.setattr(Path, "exists", lambda path: path.name != "same" and exists(path))
    names = [run_folder(tmp_path, "--checkpoint-dir", "orchard", 0, None).name for _ in range(3)]
    assert names == ["same", "same-2", "same-3"]
