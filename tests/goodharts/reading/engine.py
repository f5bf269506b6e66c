"""The reading as an engine of the harness, and states as dicts (G13)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity import BatchEngine, BatchStep, EngineOptions, State
from rlparity.engine import Array, Slots
from tests.hackmatrix.rules.randomness import key_of

from .game import CELLS, FOOD, POISON, Game, Outcome
from .observation import observe

WHOLE = ("x", "y", "energy", "steps", "event")
NUMBERS = (*WHOLE, "food_count", "poison_count")


class Reading(BatchEngine):
    """``games`` games of a mode, one object each. A game's seed is its key, lower word first.

    marks: the names of those that are counted, in the order of the world.
    """

    def __init__(
        self,
        mode: str,
        marks: Sequence[str],
        games: int,
        options: EngineOptions = EngineOptions(),
        *,
        numbers: Any,  # noqa: ANN401 - as Game has them
        evaluating: bool = False,
    ) -> None:
        self.games = games
        self._names = marks if options.marks else None
        self._marks: Counter[str] = Counter()
        self._played = [
            Game(mode, (0, 0), numbers, evaluating, marks=self._marks, prices=options.prices) for _ in range(games)
        ]

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        for seed, slot in zip(seeds.tolist(), slots.tolist(), strict=True):
            self._played[slot].key = key_of(seed)
            self._played[slot].start()
        return self._seen(slots)

    def restart(self, slots: Slots) -> Array:
        self._follow(slots)
        return self._seen(slots)

    def _follow(self, slots: Slots) -> None:
        for slot in slots.tolist():
            game = self._played[slot]
            (game.respawn if game.evaluating else game.restart)()

    def seeds(self) -> NDArray[np.uint64]:
        return np.array([low + 2**32 * high for low, high in (game.key for game in self._played)], np.uint64)

    def mask(self) -> NDArray[np.bool_]:
        return np.ones((self.games, 8), np.bool_)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._stepped(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._stepped(actions, restarting=True)

    def _stepped(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        outcomes = [game.step(action) for game, action in zip(self._played, actions.tolist(), strict=True)]
        facts = self.facts()
        if restarting:  # before they are looked at: the last look of an ended game would count as well (G7)
            self._follow(np.flatnonzero([outcome.terminated or outcome.truncated for outcome in outcomes]))
        return BatchStep(
            observation=self._seen(np.arange(self.games)),
            components=np.array([outcome.components for outcome in outcomes], np.int32),
            reward=np.array([outcome.reward for outcome in outcomes], np.float32) / np.float32(100_000),
            terminated=np.array([outcome.terminated for outcome in outcomes]),
            truncated=np.array([outcome.truncated for outcome in outcomes]),
            facts=facts,
            events=np.array([_events(outcome) for outcome in outcomes], np.uint32),
        )

    def get_state(self, slots: Slots) -> list[State]:
        return [state_of(self._played[slot]) for slot in slots.tolist()]

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        for state, slot in zip(states, slots.tolist(), strict=True):
            take(self._played[slot], state)
        return self._seen(slots)

    def facts(self) -> Array:
        return np.array([(game.energy, game.steps) for game in self._played], np.int64)

    def state_arrays(self) -> Mapping[str, Array]:
        numbers = {name: np.array([getattr(game, name) for game in self._played], np.int64) for name in NUMBERS}
        grids = np.stack([np.frombuffer(bytes(game.grid), np.int8) for game in self._played])
        return {**numbers, "grid": grids, "key": np.array([game.key for game in self._played], np.int64)}

    def marks(self) -> NDArray[np.int64] | None:
        return None if self._names is None else np.array([self._marks[name] for name in self._names], np.int64)

    def _seen(self, slots: Slots) -> Array:
        return np.stack([observe(self._played[slot]) for slot in slots.tolist()])


def _events(outcome: Outcome) -> int:
    return (outcome.ate == FOOD) + 2 * (outcome.ate == POISON) + 4 * outcome.terminated


def state_of(game: Game) -> State:
    """The game as a dict (G13)."""
    return {
        "food": [cell for cell in range(CELLS) if game.grid[cell] == FOOD],
        "poison": [cell for cell in range(CELLS) if game.grid[cell] == POISON],
        **{name: getattr(game, name) for name in WHOLE},
        "key": list(game.key),
        "foodCount": game.food_count,
        "poisonCount": game.poison_count,
    }


def take(game: Game, state: State) -> None:
    """Make the game the one that the dict describes."""
    game.grid = bytearray(CELLS)
    for kind, name in ((FOOD, "food"), (POISON, "poison")):
        for cell in state[name]:
            game.grid[cell] = kind
    for name in WHOLE:
        setattr(game, name, state[name])
    low, high = state["key"]
    game.key = low, high
    game.food_count, game.poison_count = state["foodCount"], state["poisonCount"]
