"""Views of a batch engine: one game, and a batch for training."""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity.engine import Array, BatchEngine, BatchStep, Closable, GameSeeds, Slots, State, consecutive_seeds
from rlparity.spaces import checked_actions


@dataclass(frozen=True)
class Step:
    """Output of one step of a single game; shapes as in BatchStep without the first axis."""

    observation: Array
    components: Array
    reward: float
    terminated: bool
    truncated: bool
    facts: tuple[int | float, ...]
    events: int


class _View(Closable):
    """Base class of views: games of a batch, reset from a seed, usable in a ``with`` block."""

    def __init__(self, batch: BatchEngine, actions: int, game_seeds: GameSeeds = consecutive_seeds) -> None:
        self.games = batch.games
        self._batch, self._actions, self._game_seeds = batch, actions, game_seeds
        self._all: Slots = np.arange(batch.games)

    def close(self) -> None:
        """Close the engine."""
        self._batch.close()

    def reset(self, seed: int | None = None) -> Array:
        """Start every game, slot ``i`` from the world's game ``i`` of ``seed``; returns observations (games, …).

        Without a seed, the system draws a random one.
        """
        chosen = secrets.randbits(64) if seed is None else seed
        return self._batch.reset(self._game_seeds(chosen, self.games), self._all)


class Engine(_View):
    """One game: a view of a batch of one."""

    def reset(self, seed: int | None = None) -> Array:
        """Start a new game; returns its observation."""
        return np.array(super().reset(seed)[0])

    def mask(self) -> NDArray[np.bool_]:
        """(actions,) bool: which actions are valid now."""
        return np.array(self._batch.mask()[0])

    def step(self, action: int) -> Step:
        """Play one action; raises ValueError outside 0 … actions − 1. An ended game is not restarted."""
        step = self._batch.step(checked_actions([action], 1, self._actions))
        return Step(
            np.array(step.observation[0]),
            np.array(step.components[0]),
            reward=float(step.reward[0]),
            terminated=bool(step.terminated[0]),
            truncated=step.truncated is not None and bool(step.truncated[0]),
            facts=() if step.facts is None else tuple(step.facts[0].tolist()),
            events=0 if step.events is None else int(step.events[0]),
        )

    def get_state(self) -> State:
        """The complete state, as JSON values."""
        return self._batch.get_state(self._all)[0]

    def set_state(self, state: State) -> Array:
        """Put the game into ``state``; returns the observation. Raises StateRefused where the rules forbid it."""
        return np.array(self._batch.set_state([state], self._all)[0])


class AutoResetBatch(_View):
    """A batch for training and evaluation: a game that ends is followed by the next one at once."""

    def mask(self) -> NDArray[np.bool_]:
        """(games, actions) bool: which actions are valid now."""
        return self._batch.mask()

    def step(self, actions: ArrayLike) -> BatchStep:
        """Play one action (games,) in every game; where that ends a game, the observation is the next game's first.

        Raises ValueError for another shape or an action outside 0 … actions - 1.
        """
        return self._batch.step_restarting(checked_actions(actions, self.games, self._actions))

    def get_state(self, slots: Iterable[int] | None = None) -> list[State]:
        """Complete states of the given slots, or of all."""
        return self._batch.get_state(self._slots(slots))

    def set_state(self, states: Sequence[State], slots: Iterable[int] | None = None) -> Array:
        """Put states into the given slots, or all; returns their observations (k, …)."""
        return self._batch.set_state(states, self._slots(slots))

    def _slots(self, slots: Iterable[int] | None) -> Slots:
        return self._all if slots is None else np.array(list(slots), dtype=np.intp)
