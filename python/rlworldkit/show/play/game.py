"""A game that a person plays: its table on an engine, with a second game to look ahead in, its turns and its file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from rlparity import BatchEngine, State, World
from rlparity.core.guard import GuardedEngine
from rlparity.core.prices import changed_prices
from rlparity.core.trace import Case, Trace, write_trace
from rlparity.engine import Array, Slots
from rlworldkit.evaluation.play import ending_of
from rlworldkit.render.panels import Panels
from rlworldkit.render.show import show_of
from rlworldkit.show.watch.frames import Frame

LINE = 80
"""The most columns of a line."""
MORE = " … (R shows all)"

Components = tuple[int, ...]
"""Reward of a step or an episode, in the order and the unit of the world's components."""

_PLAYED, _AHEAD = np.array([0]), np.array([1])


@dataclass(frozen=True, eq=False)
class Position:
    """A game as it stands.

    state: complete. observation: (*shape,). mask: bool (actions,).
    components: what the step that led here earned; nothing at the start.
    ending: how the game ended, in the words of `evaluate`; None while it goes on.
    """

    state: State
    observation: NDArray[np.float32]
    mask: NDArray[np.bool_]
    components: Components
    ending: str | None = None


class Table:
    """A game in slot 0 of an engine of two games, and slot 1 to look ahead in; ``close`` ends the engine.

    Everything raises EngineError where the engine fails.
    """

    def __init__(self, world: World, engine: BatchEngine, panels: Panels) -> None:
        self.world, self.panels, self._engine = world, panels, engine
        self.close = engine.close

    def start(self, seed: int) -> Position:
        """Begin the game of a seed."""
        observation = self._engine.reset(self.world.game_seeds(seed, 1), _PLAYED)
        return self._position(_PLAYED, observation[0], np.zeros(len(self.world.components), np.int32))

    def play(self, action: int) -> Position:
        """Play an action."""
        return self._step(action, _PLAYED)

    def look(self, action: int) -> Position:
        """Look ahead: the result of an action, with the draws that the game would make; the game stays as it is.

        A step moves both games, so the one that is played is put back afterwards.
        """
        here = self._engine.get_state(_PLAYED)
        self._engine.set_state(here, _AHEAD)
        ahead = self._step(action, _AHEAD)
        self._engine.set_state(here, _PLAYED)
        return ahead

    def _step(self, action: int, slot: Slots) -> Position:
        step, (game,) = self._engine.step(np.array([action, action], np.int32)), slot
        ending = None
        if step.ended[game]:
            events = 0 if step.events is None else int(step.events[game])
            ending = ending_of(self.world, events, terminated=bool(step.terminated[game]))
        return self._position(slot, step.observation[game], step.components[game], ending)

    def _position(self, slot: Slots, observation: Array, components: Array, ending: str | None = None) -> Position:
        (state,), mask = self._engine.get_state(slot), self._engine.mask()[slot[0]].copy()
        return Position(state, np.array(observation), mask, tuple(components.tolist()), ending)


def open_table(world: World, engine: str) -> Table:
    """A table on one of the world's engines; raises EngineError where it cannot start."""
    return Table(world, GuardedEngine(world, engine, 2), show_of(world).panels(world, engine))


@dataclass(frozen=True)
class Turn:
    """An action, whose it was, and what it earned."""

    action: int
    by_agent: bool
    components: Components


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """The game of a seed after some turns: where it stands, and what the episode earned so far."""

    world: World
    seed: int
    position: Position
    earned: Components
    turns: tuple[Turn, ...] = ()

    def after(self, action: int, position: Position, *, by_agent: bool) -> PlayedGame:
        """The game after one more action, which led to ``position``."""
        earned = tuple(one + more for one, more in zip(self.earned, position.components, strict=True))
        turns = (*self.turns, Turn(action, by_agent, position.components))
        return replace(self, position=position, turns=turns, earned=earned)

    @property
    def ending(self) -> str | None:
        """The end of the game, in the words of `evaluate`; None while it goes on."""
        return self.position.ending

    def in_rewards(self, components: Components) -> list[float]:
        """Components, or their sums, in units of the reward."""
        return list(map(float, self.world.in_rewards(np.array(components))))

    @property
    def verdict(self) -> str:
        """The game so far in one line, as watching an agent tells it."""
        components, earned = np.array(self.position.components), np.array(self.in_rewards(self.earned))
        last = self.world, self.seed, len(self.turns), self.position.state, None, components, earned, self.ending
        return Frame(*last).verdict

    @property
    def trace(self) -> Trace:
        """The game as `rlparity replay` reads it."""
        world = self.world
        reference, other, *_ = (*world.engines, *world.engines)
        return Trace(
            world=world.name,
            engines=(reference, other),
            case=Case(tuple(turn.action for turn in self.turns), seed=int(world.game_seeds(self.seed, 1)[0])),
            components=tuple(turn.components for turn in self.turns),
            component_names=world.components,
            prices=changed_prices(world),
        )


def unused(path: Path) -> Path:
    """The path, or where there is such a file the first of NAME-2, NAME-3, … that is none."""
    number, free = 2, path
    while free.exists():
        number, free = number + 1, path.with_stem(f"{path.stem}-{number}")
    return free


def save(game: PlayedGame, path: Path) -> None:
    """Write the game to a file, atomically; raises UsageError where that cannot be done."""
    write_trace(game.trace, path)


def signed(reward: float) -> str:
    """A reward with its sign and without idle digits: ``+0.3``, ``-0.01``, ``0``."""
    return f"{reward:+.5f}".rstrip("0").rstrip(".") if reward else "0"


def earned(game: PlayedGame, components: Components) -> str:
    """The sum and the components that are not 0: ``+0.29 = -0.01 step_penalty, +0.3 kills``."""
    *values, total = game.in_rewards((*components, sum(components)))
    named = zip(game.world.components, values, strict=True)
    parts = [f"{signed(value)} {name}" for name, value in named if value]
    return f"{signed(total)} = {', '.join(parts)}" if parts else "0"


def shortened(path: Path, room: int = LINE) -> str:
    """The path, without its beginning where it is longer than ``room`` columns."""
    text = str(path)
    return text if len(text) <= room else f"…{text[1 - room :]}"


def turn_line(game: PlayedGame, number: int, turn: Turn) -> str:
    """A step of the log: ``step 12, you: WARP +0.29 = …``."""
    who = "agent" if turn.by_agent else "you"
    return f"step {number}, {who}: {game.world.actions[turn.action]} {earned(game, turn.components)}"


def last_turn(game: PlayedGame) -> str:
    """The last step in two lines at most."""
    return shorten(turn_line(game, len(game.turns), game.turns[-1]), 2 * LINE - len(MORE), placeholder=MORE)


def outlook(panels: Panels, game: PlayedGame, ahead: PlayedGame) -> tuple[str, str]:
    """Rewards and changes of the last action of ``ahead``, which is ``game`` and one action more; a line each."""
    turn = ahead.turns[-1]
    would = f"{game.world.actions[turn.action]} would earn {earned(game, turn.components)}"
    changed = ", ".join(panels.changes(game.position.state, ahead.position.state)) or "nothing that is counted changes"
    return shorten(would, LINE, placeholder=MORE), shorten(changed, LINE, placeholder=" …")
