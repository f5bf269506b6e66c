"""Sessions on the Swift engine, players that are functions or files, and the screen as it is drawn."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hackmatrix.prices import PRICES
from hackmatrix.rules import COMPONENT_UNIT, NUM_ACTIONS
from hackmatrix.world import WORLD
from rlworldkit.agents.agent import LIKELIEST, Agent, AgentPlayer, Choice
from rlworldkit.show.play.game import PlayEngine, signed
from rlworldkit.show.play.session import PlaySession

_STEP, _CELL = (
    price.default * COMPONENT_UNIT for price in PRICES if price.name in ("step_penalty", "distance_shaping")
)
NEARER = f"{signed(_STEP + _CELL)} = {signed(_STEP)} step_penalty, {signed(_CELL)} distance_shaping"
"""The reward of a step that comes a cell nearer to the exit."""


@pytest.fixture(scope="session")
def engine(swift_built: None) -> Iterator[PlayEngine]:
    engine = PlayEngine(WORLD, "swift")
    yield engine
    engine.close()


@pytest.fixture
def session(engine: PlayEngine, tmp_path: Path) -> PlaySession:
    """Game 7, which is saved in a folder of the test."""
    return PlaySession(engine, 7, tmp_path / "game.json")


@pytest.fixture
def advised(engine: PlayEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PlaySession:
    """Game 7 with an agent that likes each action half as much as the one before; saved under a short name."""
    monkeypatch.chdir(tmp_path)
    logits = -np.log(2) * np.arange(NUM_ACTIONS, dtype=np.float32)
    agent = Agent(lambda seen, mask: (np.tile(logits, (len(seen), 1)), np.zeros(len(seen), np.float32)))
    return PlaySession(engine, 7, Path("game.json"), AgentPlayer(agent, Choice(LIKELIEST)))
