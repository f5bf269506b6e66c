"""What a run leaves, records and goes on with is the same with every trainer: here both of rlworldkit's, on Orchard."""

import json
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import matplotlib.image
import numpy as np
import pytest
from orchard import WORLD

from rlworldkit.cli.app import main
from rlworldkit.runs.folder import CONFIG, CURVE, METRICS, METRICS_LINES
from rlworldkit.runs.run import Run
from rlworldkit.runs.sinks import Metrics, read_csv
from tests.terminals import default_signals


class Trainer(NamedTuple):
    """A command with settings of the smallest runs. names: of the files with the states after its two updates."""

    command: str
    settings: str
    steps: str
    batch: int
    names: tuple[str, str]

    def train(self, folder: Path, updates: int, *flags: str) -> int:
        """Train a new run or go on, to so many updates in all; the exit code."""
        begun = [] if "--resume" in flags else [*self.settings.split(), "--checkpoint-dir", str(folder.parent)]
        named = [] if "--resume" in flags else ["--run-name", folder.name]
        return main(WORLD, [self.command, self.steps, str(self.batch * updates), *begun, *named, *flags])


JAX = Trainer(
    "train",
    "--num-envs 8 --num-steps 8 --hidden-dim 8 --num-layers 1 --num-minibatches 2 --log-interval 1 --save-interval 1",
    "--total-timesteps",
    64,
    ("checkpoint_1.pkl", "checkpoint_2.pkl"),
)
SB3 = Trainer(
    "train-sb3",
    "--num-envs 8 --n-steps 64 --batch-size 512 --n-epochs 1 --eval-freq 256 --eval-episodes 1 --eval-max-steps 9 "
    "--save-freq 512",
    "--timesteps",
    512,
    ("checkpoint_512_steps.zip", "final_model.zip"),
)


class Begun(NamedTuple):
    """A run of two updates at another price, and what it said."""

    trainer: Trainer
    folder: Path
    output: str


@pytest.fixture(scope="module", params=[JAX, SB3], ids=lambda trainer: str(trainer.command))
def begun(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Begun:
    folder, output = tmp_path_factory.mktemp("runs") / "first", tmp_path_factory.mktemp("said") / "output"
    with pytest.MonkeyPatch.context() as patch, output.open("w") as stream:
        patch.setenv("WANDB_MODE", "offline")
        patch.setattr("sys.stdout", stream)
        assert request.param.train(folder, 2, "--price", "step=0.5") == 0
    return Begun(request.param, folder, output.read_text())


@pytest.fixture
def copied(begun: Begun, tmp_path: Path) -> Begun:
    return begun._replace(folder=Path(shutil.copytree(begun.folder, tmp_path / "first")))


def config(folder: Path) -> dict[str, object]:
    settings: dict[str, object] = json.loads((folder / CONFIG).read_text())
    return settings


def test_a_run_leaves_its_files_and_says_where(begun: Begun) -> None:
    trainer, folder, output = begun
    names = {path.name for path in folder.iterdir()}
    assert names >= {METRICS, METRICS_LINES, CONFIG, CURVE, "tensorboard", "wandb", "run.lock", *trainer.names}
    assert not any(name.startswith(".") for name in names)
    assert all(f"  {folder / name}" in output for name in (trainer.names[1], CURVE))
    assert "\nWatch it play: " in output
    assert matplotlib.image.imread(folder / CURVE).size > 0
    lines = [json.loads(line) for line in (folder / METRICS_LINES).read_text().splitlines()]
    rows = read_csv(folder / METRICS)
    assert (
        [row["timesteps"] for row in rows]
        == [line["timesteps"] for line in lines]
        == [trainer.batch, 2 * trainer.batch]
    )


def test_a_resumed_run_goes_on_in_its_files_at_its_prices_and_in_one_run_on_w_and_b(
    copied: Begun, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer, folder, _ = copied
    monkeypatch.setenv("WANDB_MODE", "offline")
    before = read_csv(folder / METRICS)
    assert trainer.train(folder, 3, "--resume", str(folder / trainer.names[1])) == 0
    rows = read_csv(folder / METRICS)
    assert [row["timesteps"] for row in rows] == [trainer.batch * update for update in (1, 2, 3)]
    assert [row["seconds"] for row in rows[:2]] == [row["seconds"] for row in before]
    assert rows[2]["seconds"] > rows[1]["seconds"]
    assert config(folder)["prices"] == {"step": 0.5}
    sessions = sorted((folder / "wandb").glob(f"offline-run-*/run-{config(folder)['wandb_id']}.wandb"))
    assert len(sessions) == 2
    deadline = time.monotonic() + 20  # W&B writes in a process of its own, which may be behind
    while not all(b"train/mean_episode_length" in session.read_bytes() for session in sessions):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_going_back_puts_what_came_later_aside_and_a_price_goes_over_the_recorded_one(copied: Begun) -> None:
    trainer, folder, _ = copied
    earlier = str(folder / trainer.names[0])
    assert trainer.train(folder, 2, "--no-wandb", "--resume", earlier, "--price", "sting=0") == 0
    assert config(folder)["prices"] == {"step": 0.5, "sting": 0.0}
    old = folder / "abandoned-1"
    assert config(old)["prices"] == {"step": 0.5}
    assert (old / trainer.names[1]).exists()
    assert [row["timesteps"] for row in read_csv(old / METRICS)] == [trainer.batch, 2 * trainer.batch]
    assert [row["timesteps"] for row in read_csv(folder / METRICS)] == [trainer.batch, 2 * trainer.batch]
    if trainer is SB3:  # what was best at other prices is no measure
        with np.load(folder / "evaluations.npz") as kept:
            assert kept["timesteps"].tolist() == [768, 1024]


@pytest.mark.parametrize("trainer", [JAX, SB3], ids=lambda trainer: str(trainer.command))
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_an_interrupted_run_is_saved_and_says_how_to_go_on(
    trainer: Trainer,
    number: signal.Signals,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(run: Run, metrics: Metrics) -> None:
        signal.raise_signal(number)

    monkeypatch.setattr(Run, "write", interrupt)
    with default_signals():
        assert trainer.train(tmp_path / "stopped", 1_000_000, "--no-wandb") == 0
    said = capsys.readouterr().out
    assert "Stopping after " in said
    checkpoint = said.rpartition("--resume ")[2].split()[0]
    assert Path(checkpoint).parent == tmp_path / "stopped"
    assert Path(checkpoint).exists()


def test_a_run_never_overwrites_another(begun: Begun, refused: Callable[..., str]) -> None:
    trainer, folder, _ = begun
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    words = [*trainer.settings.split(), trainer.steps, str(trainer.batch), "--checkpoint-dir", str(folder.parent)]
    assert "already holds a run" in refused(trainer.command, *words, "--run-name", folder.name)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before
