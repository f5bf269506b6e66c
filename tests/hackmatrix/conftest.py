"""A game of the Swift engine, agents in each kind of file, and commands that refuse what they are given."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from numpy.typing import NDArray

from hackmatrix.cli.main import main
from hackmatrix.rules import ACTIONS, COMPONENTS
from hackmatrix.swift_env import SwiftEngine
from hackmatrix.world import ENGINES
from rlparity import BatchStep
from rlworldkit.ppo.params import save_params
from tests.hackmatrix.agents import new_params, write_checkpoint

CommandRefused = Callable[..., str]


@pytest.fixture
def refused() -> CommandRefused:
    """Run a command that must refuse its arguments with one line and exit code 2; returns the line."""
    return lambda *words: run(main, *words).refusal()


@pytest.fixture(scope="session")
def swift(swift_built: None) -> Iterator[SwiftEngine]:
    """One game, for tests that set its state."""
    with SwiftEngine(1) as engine:
        yield engine


@pytest.fixture
def doctored(swift_built: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second engine is the first one, but pays too much for every move up."""

    class Doctored(SwiftEngine):
        def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
            step = super()._step(actions, restarting=restarting)
            extra = np.zeros_like(step.components)
            extra[:, COMPONENTS.index("kills")] = 300 * (actions == ACTIONS.index("up"))
            return replace(step, components=step.components + extra)

    monkeypatch.setitem(ENGINES, "jax", Doctored)


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: an old one, and one that began last and is further in its checkpoint than in its parameters."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for name, updates in (("hackmatrix-20260101-000000-seed0", 900), ("hackmatrix-20260102-000000-seed0", 10)):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps({"began": name}))
        save_params(folder / name / f"params_{updates}.npz", new_params())
    write_checkpoint(folder / name / "checkpoint_10.pkl", new_params())
    write_checkpoint(folder / name / "checkpoint_20.pkl", new_params())
    return folder


@pytest.fixture(scope="session")
def params(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("params") / "params_1.npz"
    save_params(path, new_params())
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, swift_built: None) -> Path:
    from sb3_contrib import MaskablePPO  # torch takes seconds

    from hackmatrix.gym_env import HackMatrixEnv
    from rlworldkit.sb3.models import model_content

    with contextlib.closing(HackMatrixEnv()) as env:
        made = MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=8, seed=1, device="cpu")
    path = tmp_path_factory.mktemp("models") / "best_model.zip"
    path.write_bytes(model_content(made))
    return path
