"""One short run, shared by the tests that look at what a run leaves."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from hackmatrix.sb3.training import Outcome, Tracking, train
from hackmatrix.training_config import TrainingConfig

SHORT = TrainingConfig(
    timesteps=2048,
    num_envs=4,
    n_steps=128,
    batch_size=128,
    n_epochs=2,
    save_freq=700,
    eval_freq=1000,
    eval_episodes=6,
    learning_rate=lambda left: 1e-3 * left,
)
QUIET = Tracking(is_wanted=False)


def run(folder: Path, resume: Path | None = None, **changes: object) -> Outcome:
    """A short run into a folder."""
    folder.mkdir(exist_ok=True)
    console = Console(file=io.StringIO())
    return train(replace(SHORT, **changes), folder, resume=resume, tracking=QUIET, console=console)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def finished(swift_built: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run."""
    folder = tmp_path_factory.mktemp("sb3") / "short"
    run(folder)
    return folder
