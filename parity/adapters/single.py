"""An engine made of single games that know no more than ``begin`` and ``act``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parity.engine import Array, BatchEngine, BatchStep, EngineOptions, Slots, State

SEED, ACTIONS = "seed", "actions"
REPLAYED_STATE = (SEED, ACTIONS)
"""The ``state_fields`` of games without ``pull``; their world says ``states_replay=True``."""


@dataclass(frozen=True)
class Outcome:
    """The result of an action.

    truncated: None in worlds without time limits. components: of the reward, in the world's order; None: it is the only
    one.
    """

    observation: ArrayLike
    reward: float | np.floating[Any]
    terminated: bool
    truncated: bool | None = None
    components: ArrayLike | None = None


class SingleGame(ABC):
    """One game of an environment. ``begin`` and ``act`` are required.

    Games with ``pull`` and ``push`` have complete states, which are compared, and can start anywhere. Without them a
    state is the seed and the actions since, and going back to one plays them again.
    """

    has_states = False
    """Whether ``pull`` and ``push`` work."""

    @abstractmethod
    def begin(self, seed: int) -> ArrayLike:
        """Start a new game; returns its observation."""

    @abstractmethod
    def act(self, action: int) -> Outcome:
        """Play one action, valid or not; never starts the next game."""

    def mask(self) -> ArrayLike | None:
        """The valid actions, (actions,) bool; None: all."""
        return None

    def pull(self) -> dict[str, Any]:
        """The complete state but for the seed, as JSON values."""
        raise NotImplementedError

    def push(self, state: State) -> ArrayLike:
        """Take such a state, and return its observation; raises StateRefused where the rules forbid it."""
        raise NotImplementedError

    def close(self) -> None:  # noqa: B027 - only games that hold something need one
        """Let go of what the environment holds."""


class SingleGames(BatchEngine):
    """``games`` games of ``make()`` side by side, played one after another.

    Args:
        games: number of games.
        make: a new game.
        actions: number of actions.
        next_seed: the seed of the game after one with this seed; the same for all engines of a world.
    """

    def __init__(
        self, games: int, make: Callable[[], SingleGame], actions: int, next_seed: Callable[[int], int]
    ) -> None:
        self.games, self._actions, self._next_seed = games, actions, next_seed
        self._games = [make() for _ in range(games)]
        self._seeds = np.zeros(games, np.uint64)
        self._taken: list[list[int]] = [[] for _ in range(games)]
        self._ends: list[Outcome | None] = [None] * games  # of the games that are over, which are not played on
        self._has_states = self._games[0].has_states

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        self._seeds[slots] = seeds
        for slot in slots:
            self._taken[slot], self._ends[slot] = [], None
        return np.stack([np.asarray(self._games[slot].begin(int(self._seeds[slot]))) for slot in slots])

    def restart(self, slots: Slots) -> Array:
        return self.reset(np.array([self._next_seed(int(self._seeds[slot])) for slot in slots], np.uint64), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return self._seeds.copy()

    def mask(self) -> NDArray[np.bool_]:
        masks = (game.mask() for game in self._games)
        return np.array([np.ones(self._actions) if mask is None else mask for mask in masks], np.bool_)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        outcomes = [self._act(slot, action) for slot, action in enumerate(actions.tolist())]
        rewards = [outcome.reward for outcome in outcomes]
        components = [outcome.components for outcome in outcomes]
        return BatchStep(
            observation=np.stack([np.asarray(outcome.observation) for outcome in outcomes]),
            components=np.array(rewards)[:, None] if components[0] is None else np.array(components),
            reward=np.array(rewards),
            terminated=np.array([outcome.terminated for outcome in outcomes], np.bool_),
            truncated=None if outcomes[0].truncated is None else np.array([each.truncated for each in outcomes]),
        )

    def _act(self, slot: int, action: int) -> Outcome:
        if (end := self._ends[slot]) is not None:
            return end
        outcome = self._games[slot].act(action)
        self._taken[slot].append(action)
        if outcome.terminated or outcome.truncated:
            nothing = None if outcome.components is None else np.zeros_like(outcome.components)
            self._ends[slot] = replace(outcome, reward=outcome.reward * 0, components=nothing)
        return outcome

    def get_state(self, slots: Slots) -> list[State]:
        return [
            {SEED: int(self._seeds[slot])}
            | (self._games[slot].pull() if self._has_states else {ACTIONS: list(self._taken[slot])})
            for slot in slots
        ]

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        return np.stack([self._placed(state, slot) for state, slot in zip(states, slots, strict=True)])

    def _placed(self, state: State, slot: np.intp) -> Array:
        game = self._games[slot]
        if self._has_states:
            observation = game.push(state)
            self._seeds[slot], self._ends[slot] = state[SEED], None
            return np.asarray(observation)
        observation = self.reset(np.array([state[SEED]], np.uint64), np.array([slot]))[0]
        for action in state[ACTIONS]:
            observation = self._act(int(slot), action).observation
        return np.asarray(observation)

    def close(self) -> None:
        for game in self._games:
            game.close()


def engine_of(
    make: Callable[[], SingleGame], actions: int, next_seed: Callable[[int], int]
) -> Callable[..., BatchEngine]:
    """The engine factory of a world whose games ``make`` makes."""

    def open_engine(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
        return SingleGames(games, make, actions, next_seed)

    return open_engine
