"""One short run, shared by the tests that look at what a run leaves."""

import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hackmatrix.score import MILESTONE
from hackmatrix.training_config import MaskablePPOConfig
from hackmatrix.world import WORLD
from rlworldkit.runs.run import Run, TrainResult
from rlworldkit.sb3.training import train

SHORT = MaskablePPOConfig(
    timesteps=512,
    num_envs=4,
    n_steps=32,
    batch_size=64,
    n_epochs=2,
    save_freq=180,
    eval_freq=240,
    eval_episodes=4,
    learning_rate=lambda left: 1e-3 * left,
)


def run(
    folder: Path,
    resume: Path | None = None,
    *,
    changes: Mapping[str, Any] | None = None,
    console: Console | None = None,
    device: str = "auto",
    trust: bool = False,
    **settings: object,
) -> TrainResult:
    folder.mkdir(exist_ok=True)
    console = console or Console(file=io.StringIO())
    config = replace(SHORT, **settings)  # type: ignore[arg-type]
    with Run(folder, console=console, step="timesteps", milestone=MILESTONE) as into:
        return train(config, WORLD, into, resume=resume, changes=changes, device=device, trust=trust)


@pytest.fixture(scope="session")
def finished(swift_built: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sb3") / "short"
    run(folder)
    return folder
