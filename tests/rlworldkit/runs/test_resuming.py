"""A resumed run keeps the files of the sessions before it, or moves them aside."""

import dataclasses
import errno
import json
import shutil
from pathlib import Path

import pytest
from orchard import WORLD

from rlparity.errors import UsageError
from rlworldkit.agents.reader import agent_files
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.ppo.checkpoints import latest_checkpoint, read_checkpoint
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.loop import Saver
from rlworldkit.ppo.params import trained_files
from rlworldkit.ppo.training import train
from rlworldkit.runs.folder import LATEST
from rlworldkit.runs.run import Run
from rlworldkit.runs.sinks import read_csv
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import saved_settings
from tests.rlworldkit.runs.conftest import SMALL

ENV = jax_env_of(WORLD)
pytestmark = pytest.mark.usefixtures("no_picture")
KINDS = (("checkpoint", "pkl"), ("params", "npz"))


def row(update: int, session: int = 0) -> dict[str, float]:
    """The metrics of an interval."""
    return {"update": update, "timesteps": update, "seconds": 1.0, "session": session}


def logged_rows(folder: Path) -> list[tuple[int, int]]:
    """Update and session of every row, which both files agree about."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    in_csv = [(int(each["update"]), int(each["session"])) for each in read_csv(folder / "metrics.csv")]
    assert [(line["update"], line["session"]) for line in lines] == in_csv
    return in_csv


def test_rows_of_later_steps_stay_until_the_first_of_a_resumed_run(tmp_path: Path) -> None:
    old = [(update, 0) for update in range(1, 7)]
    with Run(tmp_path) as run:
        run.begin({}, 100)
        for update, _ in old:
            run.write(row(update))
    for updates, rows in (((), old), ((4, 5), [*old[:3], (4, 1), (5, 1)])):
        with Run(tmp_path) as run:
            run.begin({}, 100, after=3, is_resumed=True)
            assert logged_rows(tmp_path) == old
            for update in updates:
                run.write(row(update, 1))
        assert logged_rows(tmp_path) == rows


class TestGoingBack:
    """A run that is resumed from an earlier checkpoint than its last."""

    def trained(
        self, folder: Path, updates: int, resume: str | None = None, stop: StopRequest | None = None, **changes: float
    ) -> None:
        """Train up to so many updates, one row and one save for each."""
        config, start = SMALL, None
        if resume == LATEST:
            start, faults = latest_checkpoint(folder.parent, ENV)
            assert not faults
        elif resume:
            start = read_checkpoint(folder / resume, ENV)
        if start:
            config = TrainConfig(**saved_settings(TrainConfig, start.config, start.path))
        config = dataclasses.replace(config, **{"total_timesteps": 64 * updates, **changes})  # type: ignore[arg-type]
        with Run(folder, stop=stop) as run:
            train(config, ENV, run, start=start, saver=Saver(1))

    @pytest.fixture(scope="class")
    def went_back(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A run of four updates that went back to the second and on to the third, at another rate."""
        folder = tmp_path_factory.mktemp("went_back") / "run"
        self.trained(folder, 4)
        self.trained(folder, 3, "checkpoint_2.pkl", learning_rate=1e-5)
        return folder

    @pytest.fixture
    def folder(self, went_back: Path, tmp_path: Path) -> Path:
        """A copy of it."""
        return Path(shutil.copytree(went_back, tmp_path / "run"))

    def test_what_is_furthest_is_of_the_branch(self, folder: Path) -> None:
        names = {f"{kind}_{number}.{end}" for number in (1, 2, 3) for kind, end in KINDS}
        assert {path.name for path in folder.iterdir() if path.suffix in (".pkl", ".npz")} == names
        checkpoint, faults = latest_checkpoint(folder.parent, ENV)
        assert (checkpoint.path, checkpoint.config["learning_rate"], faults) == (folder / "checkpoint_3.pkl", 1e-5, [])
        assert trained_files(folder.parent)[0] == folder / "params_3.npz"
        assert agent_files(WORLD, folder)[0] == folder / "params_3.npz"

    def test_resuming_the_latest_goes_on_with_the_branch(self, folder: Path) -> None:
        self.trained(folder, 5, LATEST)
        assert json.loads((folder / "config.json").read_text())["learning_rate"] == 1e-5
        rows = read_csv(folder / "metrics.csv")
        assert [each["update"] for each in rows] == [1, 2, 3, 4, 5]
        straight = folder.parent / "straight"
        straight.mkdir()
        (straight / "checkpoint_2.pkl").write_bytes((folder / "checkpoint_2.pkl").read_bytes())
        self.trained(straight, 5, "checkpoint_2.pkl", learning_rate=1e-5)
        losses = [[each["train/total_loss"] for each in read_csv(run / "metrics.csv")] for run in (folder, straight)]
        assert losses[0][2:] == losses[1]

    def test_nothing_of_the_old_branch_is_lost(self, folder: Path) -> None:
        old = folder / "abandoned-1"
        names = {f"{kind}_{number}.{end}" for number in (3, 4) for kind, end in KINDS}
        records = {"metrics.csv", "metrics.jsonl", "config.json", "learning_curve.png"}
        assert {path.name for path in old.iterdir()} == names | records
        assert [each["update"] for each in read_csv(old / "metrics.csv")] == [1, 2, 3, 4]
        self.trained(old, 5, "checkpoint_4.pkl")
        assert [each["update"] for each in read_csv(old / "metrics.csv")] == [1, 2, 3, 4, 5]
        assert json.loads((old / "config.json").read_text())["learning_rate"] == 2.5e-4
        assert latest_checkpoint(folder.parent, ENV)[0].path == folder / "checkpoint_3.pkl"

    def test_a_branch_that_is_killed_before_it_is_saved_has_no_rows_of_the_old_one(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("rlworldkit.ppo.training.training_loop", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            self.trained(folder, 4, "checkpoint_1.pkl")
        assert [each["update"] for each in read_csv(folder / "metrics.csv")] == [1]
        assert latest_checkpoint(folder.parent, ENV)[0].path == folder / "checkpoint_1.pkl"
        monkeypatch.undo()
        self.trained(folder, 2, LATEST)
        assert latest_checkpoint(folder.parent, ENV)[0].path == folder / "checkpoint_2.pkl"
        assert {path.name for path in folder.glob("abandoned-*")} == {"abandoned-1", "abandoned-2"}

    def test_a_run_that_is_stopped_before_it_trains_changes_nothing(self, tmp_path: Path) -> None:
        self.trained(tmp_path / "run", 2)
        before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()}
        stop = StopRequest()
        stop.requested = True
        self.trained(tmp_path / "run", 2, "checkpoint_1.pkl", stop)
        assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()} == before

    def test_files_that_cannot_be_moved_are_one_sentence(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("rlworldkit.runs.folder.shutil.copyfile", full)
        with pytest.raises(UsageError, match=r"could not be moved into a subfolder \(No space left on device\)"):
            self.trained(folder, 4, "checkpoint_1.pkl")
        assert latest_checkpoint(folder.parent, ENV)[0].path == folder / "checkpoint_3.pkl"
