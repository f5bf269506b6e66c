"""A disk that fills up in the middle of a run costs nothing but one line for each file that it refuses."""

import contextlib
import io
import json
import mmap
import re
import resource
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import matplotlib.image
import numpy as np
import pytest
from orchard import WORLD
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from rlparity.errors import ParityError
from rlworldkit.cli.app import main
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.ppo.checkpoints import read_checkpoint
from rlworldkit.ppo.loop import Saver
from rlworldkit.ppo.params import load_params
from rlworldkit.ppo.training import train as train_jax
from rlworldkit.runs.run import Run
from rlworldkit.runs.sinks import AppendedFile, CsvLog, read_csv
from rlworldkit.runs.stop import StopRequest
from rlworldkit.runs.wandb_run import Tracking
from rlworldkit.sb3.config import MaskablePPOConfig
from rlworldkit.sb3.training import load_model
from rlworldkit.sb3.training import train as train_sb3
from tests.rlworldkit.runs.conftest import SIZES, SMALL
from tests.rlworldkit.runs.conftest import compiled_once as compiled_once

ENV = jax_env_of(WORLD)
WIDE = {f"metric/{number}": 0.5 for number in range(1200)}
"""So many metrics that no row fits into what a full disk has left of its last page."""
SHORT = MaskablePPOConfig(
    timesteps=10 * 64,
    num_envs=2,
    n_steps=32,
    batch_size=32,
    n_epochs=1,
    save_freq=128,
    eval_freq=128,
    eval_episodes=2,
    eval_max_steps=20,
)


class SmallDisk:
    """A file system of its own, which can be filled to the last byte and emptied again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filling = folder / "filling"

    def fill(self) -> None:
        with self._filling.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(512))
            except OSError:
                pass

    def leave(self, pages: int) -> None:
        """Of a full disk, make so many pages free."""
        with self._filling.open("r+b") as file:
            file.truncate(self._filling.stat().st_size - pages * mmap.PAGESIZE)

    def free(self) -> None:
        self._filling.unlink()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Four megabytes; skipped, aloud, where this process may not mount."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command, which these tests make a small disk with")
    command = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here ({mounted.stderr.strip()}); run the tests as root")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def row(update: int) -> dict[str, float]:
    """The metrics of an interval."""
    return {"update": update, "timesteps": 64 * update, "seconds": float(update), "steps_per_second": 64.0, **WIDE}


def folder_on(disk: SmallDisk) -> Path:
    """A run's folder there."""
    folder = disk.folder / "run"
    folder.mkdir()
    return folder


def steps_everywhere(folder: Path, step: str = "update") -> list[list[int]]:
    """The steps of the rows in metrics.csv, in metrics.jsonl and in TensorBoard's files."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return [
        [int(each[step]) for each in read_csv(folder / "metrics.csv")],
        [int(json.loads(line)[step]) for line in lines],
        [event.step for event in events.Scalars("timesteps")],
    ]


def notices(said: str) -> list[str]:
    """The names of the files of which the user was told that they could not be written."""
    return re.findall(r"(\S+) could not be written \(No space left on device\)\. Training goes on\.", said)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> Tracking:
    """W&B, which writes into the run's folder."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    return Tracking(enabled=True)


class Outage(StopRequest):
    """A disk that is full from one question whether to stop until another."""

    def __init__(self, disk: SmallDisk, full: int, free: int) -> None:
        self._disk, self._full, self._free = disk, full, free
        self._asked = 0
        super().__init__()

    @property
    def requested(self) -> bool:
        self._asked += 1
        if self._asked == self._full:
            self._disk.fill()
        if self._asked == self._free:
            self._disk.free()
        return False

    @requested.setter
    def requested(self, value: bool) -> None:
        """Nobody stops this run."""


def test_outages_leave_every_row_in_its_order_and_settings_are_written_when_there_is_room(
    small_disk: SmallDisk,
) -> None:
    folder, said = folder_on(small_disk), io.StringIO()
    with Run(folder, console=Console(file=said, width=1000)) as run:
        small_disk.fill()
        run.begin({"lr": 1.0, **WIDE}, 640)
        for update in range(1, 10):
            if update == 4:
                small_disk.fill()
            if update in (2, 7):
                small_disk.free()
            run.write(row(update))
            if update == 2:
                assert json.loads((folder / "config.json").read_text())["lr"] == 1.0
            if 4 <= update < 7:
                assert (folder / "metrics.jsonl").read_bytes().endswith(b"}\n"), "no half lines"
                assert steps_everywhere(folder) == [[1, 2, 3]] * 3
    assert steps_everywhere(folder) == [list(range(1, 10))] * 3
    assert (folder / "metrics.csv").read_bytes().endswith(b"\r\n")
    names = ["config.json", "metrics.csv", "metrics.jsonl", "tensorboard"]
    assert [Path(path).name for path in notices(said.getvalue())] == names
    assert run.writer.failing == []
    assert matplotlib.image.imread(folder / "learning_curve.png").size > 0


def test_a_disk_that_stays_full_is_told_at_the_end(
    small_disk: SmallDisk, offline: Tracking, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, said = folder_on(small_disk), io.StringIO()
    with Run(folder, console=Console(file=said, width=1000), tracking=offline) as run:
        run.begin({"lr": 1.0}, 640)
        run.write(row(1))
        assert "W&B is left out" not in said.getvalue()
        for log in folder.glob("wandb/*run-*/logs/debug.log"):  # what W&B says of its end should find no room either
            with log.open("ab") as file:
                file.write(bytes(-log.stat().st_size % mmap.PAGESIZE))
        small_disk.fill()
        for update in (2, 3, 4):
            run.write(row(update))
    assert steps_everywhere(folder) == [[1]] * 3
    names = ["metrics.csv", "metrics.jsonl", "tensorboard", "wandb", "learning_curve.png"]
    assert [Path(path).name for path in notices(said.getvalue())] == names
    assert [failing.split()[0] for failing in run.writer.failing] == [str(folder / name) for name in names]
    last = said.getvalue().splitlines()[-1]
    assert last.startswith(f"Not complete, because they could not be written: {folder}/metrics.csv (No space left")
    assert {path.name for path in folder.iterdir()} >= {"metrics.csv", "metrics.jsonl", "config.json"}
    assert not list(folder.glob("*.part"))
    assert capfd.readouterr().err == ""


@contextlib.contextmanager
def files_end_at_100_bytes() -> Iterator[None]:
    """Refuse the 101st byte of any file, after those before it are written, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_half_a_piece_that_is_refused_or_of_a_killed_process_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = AppendedFile(path)
    file.append(b"a" * 60)
    for _ in range(2):
        with pytest.raises(OSError, match="File too large"), files_end_at_100_bytes():
            file.append(b"b" * 60)
        assert path.read_bytes() == b"a" * 60
    file.append(b"c" * 40)
    assert path.read_bytes() == b"a" * 60 + b"c" * 40
    AppendedFile(path, 60).append(b"next")
    assert path.read_bytes() == b"a" * 60 + b"next"


def test_a_row_with_a_new_column_that_finds_no_room_is_not_appended_without_its_heading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = CsvLog(tmp_path / "metrics.csv")
    log.write({"update": 1})
    with monkeypatch.context() as full:
        full.setattr("rlworldkit.runs.sinks.write_whole", Mock(side_effect=OSError("no room")))
        with pytest.raises(OSError, match="no room"):
            log.write({"update": 2, "new": 2.0})
    log.write({"update": 3, "new": 3.0})
    assert [each["new"] for each in read_csv(log.path)[1:]] == [2.0, 3.0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_log_file_on_a_full_disk_does_not_end_a_run() -> None:
    with Path("/dev/full").open("w") as full:
        run = Run(console=Console(file=full))
        with run:
            run.begin({}, 640)
            run.write(row(1))
            run.print_line("There is nobody to hear this.")
        with contextlib.suppress(OSError):
            full.close()


def test_an_outage_costs_the_checkpoints_of_its_time_in_jax(small_disk: SmallDisk) -> None:
    folder, said = folder_on(small_disk), io.StringIO()
    stop = Outage(small_disk, full=4, free=8)
    with Run(folder, console=Console(file=said, width=1000), stop=stop) as run:
        trained = train_jax(SMALL, ENV, run, saver=Saver(every_updates=1))
    saved = {int(path.stem.split("_")[1]) for path in folder.glob("checkpoint_*.pkl")}
    assert {1, 10} <= saved < set(range(1, 11))
    assert [path.name for path in trained.files] == ["checkpoint_10.pkl", "params_10.npz"]
    assert read_checkpoint(trained.files[0], ENV).progress.updates == 10
    assert steps_everywhere(folder) == [list(range(1, 11))] * 3
    kinds = [re.sub(r"_\d+", "", Path(path).name) for path in notices(said.getvalue())]
    assert kinds.count("checkpoint.pkl") == 1
    assert len(kinds) == len(set(kinds))
    assert run.writer.failing == []


def trained(disk: SmallDisk, pages: int) -> tuple[object, Path]:
    """The exit code of the command where so many pages are free, and the run's folder."""
    disk.fill()
    disk.leave(pages)
    words = ["train", *SIZES, "--total-timesteps", "128", "--run-name", "run", "--no-wandb"]
    return main(WORLD, [*words, "--checkpoint-dir", str(disk.folder)]), disk.folder / "run"


def test_parameters_are_kept_where_a_checkpoint_finds_no_room(
    small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    code, folder = trained(small_disk, 6)  # four for settings and metrics, and a checkpoint needs three
    error = capsys.readouterr().err
    assert f"{folder}/checkpoint_2.pkl could not be written (No space left on device)" in error
    assert (code, len(error.splitlines())) == (1, 1)
    assert load_params(folder / "params_2.npz")


def test_a_picture_that_finds_no_room_is_told_with_exit_code_1(
    small_disk: SmallDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    code, folder = trained(small_disk, 13)  # they take all but the picture, which needs more than that alone
    said = capsys.readouterr()
    assert (code, said.err) == (1, "")
    assert f"\n  {folder}/checkpoint_2.pkl\n" in said.out
    assert f"\n  {folder}/learning_curve.png\n" not in said.out
    told = f"Not complete, because they could not be written: {folder}/learning_curve.png (No space left on device)"
    assert f"{told}.\n" in said.out
    assert read_checkpoint(folder / "checkpoint_2.pkl", ENV).progress.updates == 2


def test_an_outage_costs_the_checkpoints_of_its_time_in_sb3(small_disk: SmallDisk) -> None:
    folder, said = folder_on(small_disk), io.StringIO()
    stop = Outage(small_disk, full=50, free=200)
    with Run(folder, console=Console(file=said, width=1000), step="timesteps", stop=stop) as run:
        trained = train_sb3(SHORT, WORLD, run, engine="plain")
    assert trained.files[-1] == folder / "final_model.zip"
    assert load_model(folder / "best_model.zip", WORLD).num_timesteps <= 640
    with np.load(folder / "evaluations.npz") as kept:
        assert kept["timesteps"].tolist() == [128, 256, 384, 512, 640]
    rows = steps_everywhere(folder, "timesteps")
    assert rows == [list(range(rows[0][0], 641, 64))] * 3
    assert len(rows[0]) > 5  # none before the first episode ends
    kinds = [re.sub(r"_\d+", "", Path(path).name) for path in notices(said.getvalue())]
    assert {"checkpoint_steps.zip", "evaluations.npz"} <= set(kinds)
    assert len(kinds) == len(set(kinds))
    assert run.writer.failing == []


def test_a_disk_that_stays_full_is_one_sentence_at_the_end(small_disk: SmallDisk) -> None:
    folder = folder_on(small_disk)
    stop = Outage(small_disk, full=100, free=-1)
    with (
        pytest.raises(ParityError, match=r"final_model.zip could not be written \(No space left on device\): make"),
        Run(folder, step="timesteps", stop=stop) as run,
    ):
        train_sb3(SHORT, WORLD, run, engine="plain")
    assert load_model(folder / "checkpoint_128_steps.zip", WORLD).num_timesteps == 128
