"""Sessions on the Swift engine, players that are functions or files, and the screen as it is drawn."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hackmatrix.prices import PRICES
from hackmatrix.rules import COMPONENT_UNIT, NUM_ACTIONS
from hackmatrix.world import WORLD
from rlworldkit.agents.agent import Agent, AgentPlayer
from rlworldkit.agents.choice import LIKELIEST, Choice
from rlworldkit.show.play.game import Table, signed
from rlworldkit.show.play.session import Session

_STEP, _CELL = (
    price.default * COMPONENT_UNIT for price in PRICES if price.name in ("step_penalty", "distance_shaping")
)
NEARER = f"{signed(_STEP + _CELL)} = {signed(_STEP)} step_penalty, {signed(_CELL)} distance_shaping"
"""The reward of a step that comes a cell nearer to the exit."""


@pytest.fixture(scope="session")
def table(swift_built: None) -> Iterator[Table]:
    table = Table(WORLD, "swift")
    yield table
    table.close()


@pytest.fixture
def session(table: Table, tmp_path: Path) -> Session:
    """Game 7, which is saved in a folder of the test."""
    return Session(table, 7, tmp_path / "game.json")


@pytest.fixture
def advised(table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Game 7 with an agent that likes each action half as much as the one before; saved under a short name."""
    monkeypatch.chdir(tmp_path)
    logits = -np.log(2) * np.arange(NUM_ACTIONS, dtype=np.float32)
    agent = Agent(lambda seen, mask: (np.tile(logits, (len(seen), 1)), np.zeros(len(seen), np.float32)))
    return Session(table, 7, Path("game.json"), AgentPlayer(agent, Choice(LIKELIEST)))
