"""Game that a person plays: its engine, with a second game to look ahead in, its turns and its file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlparity.core.guard import GuardedEngine
from rlparity.core.prices import changed_prices
from rlparity.core.trace import Case, Trace
from rlparity.engine import Array, Slots
from rlworldkit.evaluation.play import ending_of
from rlworldkit.render.panels import Panels
from rlworldkit.render.show import show_of
from rlworldkit.show.watch.frames import Frame

LINE = 80
"""Maximum number of columns of a line."""
MORE = " … (R shows all)"

Components = tuple[int, ...]
"""Reward of a step or an episode, in the order and the unit of the world's components."""

_PLAYED, _AHEAD = np.array([0]), np.array([1])


@dataclass(frozen=True)
class PlayedTurn:
    """An action, whether the agent chose it, and the reward that it earned."""

    action: int
    by_agent: bool
    components: Components


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """The game of a seed after some turns.

    state: the complete state. observation: (*shape,). mask: bool (actions,).
    components: reward of the last step. earned: reward of the episode so far.
    ending: how the game ended, in the words of `evaluate`; None while it goes on.
    """

    world: World
    seed: int
    state: State
    observation: NDArray[np.float32]
    mask: NDArray[np.bool_]
    components: Components
    earned: Components
    ending: str | None = None
    turns: tuple[PlayedTurn, ...] = ()

    def in_rewards(self, components: Components) -> list[float]:
        """Convert components, or their sums, to units of the reward."""
        return list(map(float, self.world.in_rewards(np.array(components))))

    @property
    def verdict(self) -> str:
        """Seed and outcome of the game in one line, in the words of `watch`."""
        components, earned = np.array(self.components), np.array(self.in_rewards(self.earned))
        last = self.world, self.seed, len(self.turns), self.state, None, components, earned, self.ending
        return Frame(*last).verdict

    @property
    def trace(self) -> Trace:
        """Trace of the game for `rlparity replay`."""
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


class PlayEngine:
    """An engine of two games: the game is in slot 0, slot 1 is for looking ahead; ``close`` closes the engine.

    engine: name of one of the world's engines. All methods raise EngineError if it cannot start, or fails.
    """

    def __init__(self, world: World, engine: str) -> None:
        self.world, self.engine = world, GuardedEngine(world, engine, 2)
        self.panels = show_of(world).panels(world, engine)
        self.close = self.engine.close

    def start(self, seed: int) -> PlayedGame:
        """Start the game of a seed."""
        observation = self.engine.reset(self.world.game_seeds(seed, 1), _PLAYED)[0]
        nothing = (0,) * len(self.world.components)
        return PlayedGame(self.world, seed, *self._seen(_PLAYED, observation), nothing, nothing)

    def play(self, game: PlayedGame, action: int, *, by_agent: bool = False) -> PlayedGame:
        """Play an action in the game that was started last."""
        return self._step(game, action, _PLAYED, by_agent=by_agent)

    def look(self, game: PlayedGame, action: int) -> PlayedGame:
        """Return the game after an action, with the draws that it would make; the game itself stays as it is.

        A step moves both games, so the game that is played is restored afterwards.
        """
        here = self.engine.get_state(_PLAYED)
        self.engine.set_state(here, _AHEAD)
        ahead = self._step(game, action, _AHEAD, by_agent=False)
        self.engine.set_state(here, _PLAYED)
        return ahead

    def _step(self, game: PlayedGame, action: int, slot: Slots, *, by_agent: bool) -> PlayedGame:
        step, (place,) = self.engine.step(np.array([action, action], np.int32)), slot
        ending = None
        if step.ended[place]:
            events = 0 if step.events is None else int(step.events[place])
            ending = ending_of(self.world, events, terminated=bool(step.terminated[place]))
        components = tuple(step.components[place].tolist())
        earned = tuple(one + more for one, more in zip(game.earned, components, strict=True))
        turns = (*game.turns, PlayedTurn(action, by_agent, components))
        seen = self._seen(slot, step.observation[place])
        return PlayedGame(game.world, game.seed, *seen, components, earned, ending, turns)

    def _seen(self, slot: Slots, observation: Array) -> tuple[State, NDArray[np.float32], NDArray[np.bool_]]:
        (state,), mask = self.engine.get_state(slot), self.engine.mask()[slot[0]].copy()
        return state, np.array(observation), mask


def unused(path: Path) -> Path:
    """Return the path, or if it exists the first of NAME-2, NAME-3, … that does not."""
    number, free = 2, path
    while free.exists():
        number, free = number + 1, path.with_stem(f"{path.stem}-{number}")
    return free


def signed(reward: float) -> str:
    """Format a reward with its sign and without trailing zeros: ``+0.3``, ``-0.01``, ``0``."""
    return f"{reward:+.5f}".rstrip("0").rstrip(".") if reward else "0"


def earned(game: PlayedGame, components: Components) -> str:
    """Format the sum and the components that are not 0: ``+0.29 = -0.01 step_penalty, +0.3 kills``."""
    *values, total = game.in_rewards((*components, sum(components)))
    named = zip(game.world.components, values, strict=True)
    parts = [f"{signed(value)} {name}" for name, value in named if value]
    return f"{signed(total)} = {', '.join(parts)}" if parts else "0"


def shortened(path: Path, room: int = LINE) -> str:
    """Shorten a path to ``room`` columns by cutting off its beginning."""
    text = str(path)
    return text if len(text) <= room else f"…{text[1 - room :]}"


def turn_line(game: PlayedGame, number: int, turn: PlayedTurn) -> str:
    """Format a step of the log: ``step 12, you: WARP +0.29 = …``."""
    who = "agent" if turn.by_agent else "you"
    return f"step {number}, {who}: {game.world.actions[turn.action]} {earned(game, turn.components)}"


def last_turn(game: PlayedGame) -> str:
    """Format the last step in two lines at most."""
    return shorten(turn_line(game, len(game.turns), game.turns[-1]), 2 * LINE - len(MORE), placeholder=MORE)


def outlook(panels: Panels, game: PlayedGame, ahead: PlayedGame) -> tuple[str, str]:
    """Format rewards and changes of the last action of ``ahead``, which is ``game`` plus one action; a line each."""
    turn = ahead.turns[-1]
    would = f"{game.world.actions[turn.action]} would earn {earned(game, turn.components)}"
    changed = ", ".join(panels.changes(game.state, ahead.state)) or "nothing that is counted changes"
    return shorten(would, LINE, placeholder=MORE), shorten(changed, LINE, placeholder=" …")
