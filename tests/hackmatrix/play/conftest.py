"""Sessions on the Swift engine, players that are functions or files, and the screen as it is drawn."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from textual.pilot import Pilot

from hackmatrix.prices import PRICES
from hackmatrix.rules import COMPONENT_UNIT, NUM_ACTIONS
from hackmatrix.world import WORLD
from rlparity import EngineError
from rlworldkit.agents.agent import Agent, AgentPlayer
from rlworldkit.agents.choice import LIKELIEST, Choice
from rlworldkit.show.play.app import PlayApp
from rlworldkit.show.play.game import Table, signed
from rlworldkit.show.play.session import Session
from rlworldkit.show.watch.controls import Controls

_STEP, _CELL = (
    price.default * COMPONENT_UNIT for price in PRICES if price.name in ("step_penalty", "distance_shaping")
)
NEARER = f"{signed(_STEP + _CELL)} = {signed(_STEP)} step_penalty, {signed(_CELL)} distance_shaping"
"""The reward of a step that comes a cell nearer to the exit."""

Act = Callable[[Pilot[EngineError]], Awaitable[object]]


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
    """Game 7 with an agent that likes lower actions better: up, else down, else left; saved under a short name."""
    monkeypatch.chdir(tmp_path)
    return Session(table, 7, Path("game.json"), liking(*range(NUM_ACTIONS)))


def liking(*actions: int) -> AgentPlayer:
    """An agent that takes the first of these actions that is valid, each half as likely as the one before."""
    logits = np.full(NUM_ACTIONS, -50, np.float32)
    logits[list(actions)] = -np.log(2) * np.arange(len(actions))
    agent = Agent(lambda seen, mask: (np.tile(logits, (len(seen), 1)), np.zeros(len(seen), np.float32)))
    return AgentPlayer(agent, Choice(LIKELIEST))


def drive(session: Session, act: Act, size: tuple[int, int] = (80, 24), speed: float = 100) -> PlayApp:
    """Show a session on a screen of so many columns and lines, and act on it."""

    async def run() -> PlayApp:
        app = PlayApp(session, Controls(speed))
        async with app.run_test(size=size) as pilot:
            await act(pilot)
        return app

    return asyncio.run(run())


def lines_of(pilot: Pilot[EngineError]) -> list[str]:
    return [strip.text for strip in pilot.app.screen._compositor.render_strips()]


def press(session: Session, *keys: str, size: tuple[int, int] = (80, 24)) -> str:
    seen: list[str] = []

    async def act(pilot: Pilot[EngineError]) -> None:
        await pilot.press(*keys)
        await pilot.pause()
        seen.extend(lines_of(pilot))

    drive(session, act, size)
    return "\n".join(line.rstrip() for line in seen)
