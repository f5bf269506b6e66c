"""Batch engine made of single games, which need only ``begin`` and ``act``."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rlparity.adapters.observations import as_array, json_of, leaves_in
from rlparity.engine import Array, BatchEngine, BatchStep, Slots, State
from rlparity.errors import EngineError
from rlparity.spaces import Box, action_numbers

SEED, ACTIONS = "seed", "actions"
REPLAYED_STATE = (SEED, ACTIONS)
"""The ``state_fields`` of games without ``pull``; their world has ``states_replay=True``."""
TAKEN = "taken"
"""Key of a state: the number of actions since the start, which with the seed determines the next random draws."""
MASK = "action_mask"
"""Key of an info: the valid actions."""
NextSeed = Callable[[int], int]
"""Function from the seed of a game to that of the next one; the same for all engines of a world."""


@dataclass(frozen=True)
class Outcome:
    """Result of an action.

    observation: an array, or a dict, tuple or dataclass of arrays. reward: a number, or (players,).
    terminated: a flag, or (players,). truncated: likewise; None in worlds without time limits.
    components: reward components, in the world's order; None: the reward itself, or the rewards of the players.
    """

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any = None
    components: ArrayLike | None = None

    @property
    def ended(self) -> bool:
        """Whether the game is over for all players."""
        return bool(np.all(np.logical_or(self.terminated, False if self.truncated is None else self.truncated)))


class SingleGame(ABC):
    """One game of an environment. ``begin`` and ``act`` are required.

    Games with ``pull`` and ``push`` have complete states, which are compared, and can start in any state. Without them
    a state is the seed and the actions since, and setting it replays the actions.
    """

    has_states = False
    """Whether ``pull`` and ``push`` work."""
    info: Mapping[str, Any] | None = None
    """Info dict of the last ``begin`` or ``act``; None: the environment has no infos."""

    @abstractmethod
    def begin(self, seed: int) -> Any:
        """Start a new game; returns its observation."""

    @abstractmethod
    def act(self, action: Any) -> Outcome:
        """Play one action, valid or not; never starts the next game."""

    def mask(self) -> ArrayLike | None:
        """Mask of the valid actions, (actions,) bool; None: all are valid."""
        return None

    def pull(self) -> dict[str, Any]:
        """Return the complete state without the seed, as JSON values."""
        raise NotImplementedError

    def push(self, state: State) -> Any:
        """Set a state, with its seed, and return its observation; raises StateRefused where the rules forbid it."""
        raise NotImplementedError

    def origins(
        self, before: State, action: Any, states: tuple[State, State], fields: Sequence[str]
    ) -> Sequence[tuple[Path, int]]:
        """Find source lines as ``BatchEngine.origins`` does, for one action."""
        return ()

    def declarations(self) -> Mapping[str, Any]:
        """Return the environment's declarations, such as its spaces, as JSON values."""
        return {}

    def close(self) -> None:  # noqa: B027 - only games that hold something need one
        """Release the resources of the environment."""


class SingleGames(BatchEngine):
    """Engine of ``games`` games made by ``make()``, which are stepped one after another.

    actions: their number, or the space of array actions. next_seed: gives the seed of the game after an ended one.
    original: if given, games start in the state that it has after its reset, not after their own.
    """

    def __init__(
        self,
        games: int,
        make: Callable[[], SingleGame],
        actions: int | Box,
        next_seed: NextSeed,
        original: SingleGame | None = None,
    ) -> None:
        self.games, self._next_seed, self._original = games, next_seed, original
        self._space = actions if isinstance(actions, Box) else None
        self._actions = 0 if isinstance(actions, Box) else actions
        self._seeds = np.zeros(games, np.uint64)
        self._taken: list[list[Any]] = [[] for _ in range(games)]
        self._form: tuple[Any, ...] | None = None
        self._has_masks = False
        self._games = [make() for _ in range(games)]
        self._ends: list[Outcome | None] = [None] * games  # outcomes to repeat for games that are over
        self._returned: list[tuple[list[Array], list[bytes]]] = [([], [])] * games
        self._has_states = self._games[0].has_states

    def restart(self, slots: Slots) -> Array:
        return self.reset(np.array([self._next_seed(int(self._seeds[slot])) for slot in slots], np.uint64), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return self._seeds.copy()

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        self._seeds[slots] = seeds
        return np.stack([self._begun(int(slot)) for slot in slots])

    def _begun(self, slot: int) -> Array:
        self._taken[slot], self._ends[slot] = [], None
        seed, game = int(self._seeds[slot]), self._games[slot]
        if self._original is None:
            return self._checked(slot, game.begin(seed), "reset")
        self._original.begin(seed)
        return self._checked(slot, game.push({SEED: seed} | self._original.pull()), "reset")

    def mask(self) -> NDArray[np.bool_]:
        masks = [None if self._space else game.mask() for game in self._games]
        self._has_masks = self._has_masks or any(mask is not None for mask in masks)
        return np.array([np.ones(self._actions) if mask is None else mask for mask in masks], np.bool_)

    def step(self, actions: NDArray[Any]) -> BatchStep:
        outcomes = [self._act(slot, action) for slot, action in enumerate(actions)]
        rewards = np.array([outcome.reward for outcome in outcomes])
        components = [outcome.components for outcome in outcomes]
        flags = [np.array([getattr(outcome, name) for outcome in outcomes]) for name in ("terminated", "truncated")]
        if outcomes[0].truncated is not None and flags[0].ndim != flags[1].ndim:  # only one of them is by player
            flags = [*np.broadcast_arrays(*(flag.reshape(self.games, -1) for flag in flags))]
        return BatchStep(
            observation=np.stack([outcome.observation for outcome in outcomes]),
            components=rewards.reshape(self.games, -1) if components[0] is None else np.array(components),
            reward=rewards,
            terminated=flags[0].astype(np.bool_),
            truncated=None if outcomes[0].truncated is None else flags[1].astype(np.bool_),
        )

    def _act(self, slot: int, action: Any) -> Outcome:
        if (end := self._ends[slot]) is not None:
            return end
        outcome = self._games[slot].act(int(action) if self._space is None else np.array(action))
        outcome = replace(outcome, observation=self._checked(slot, outcome.observation, "step"))
        self._taken[slot].append(action)
        if outcome.ended:
            nothing = None if outcome.components is None else np.zeros_like(outcome.components)
            self._ends[slot] = replace(outcome, reward=np.multiply(outcome.reward, 0), components=nothing)
        return outcome

    def _checked(self, slot: int, observation: Any, call: str) -> Array:
        """Copy an observation to a new array; raise EngineError if the previous one has been changed since."""
        returned, contents = self._returned[slot]
        if any(leaf.tobytes() != content for leaf, content in zip(returned, contents, strict=True)):
            raise EngineError(f"its {call} changes the observation that was returned before: return a new array")
        leaves = leaves_in(observation)
        self._returned[slot] = leaves, [leaf.tobytes() for leaf in leaves]
        array = as_array(observation)
        self._demand_form(array.dtype, array.shape, call)
        return array.copy()

    def _demand_form(self, dtype: Any, shape: tuple[int, ...], call: str) -> None:
        """Raise EngineError if an observation's dtype or shape differs from the first one's."""
        form = dtype, shape
        self._form = self._form or form
        if form != self._form:
            one, other = (" ".join(map(str, each)) for each in (self._form, form))
            raise EngineError(f"its {call} returns an observation of {other}, after one of {one}: return one form")

    def get_state(self, slots: Slots) -> list[State]:
        if self._has_states:
            return [{SEED: int(self._seeds[slot])} | self._games[slot].pull() for slot in slots]
        return [{SEED: int(self._seeds[slot]), ACTIONS: [*map(_numbers, self._taken[slot])]} for slot in slots]

    def infos(self) -> list[dict[str, Any]] | None:
        if self._games[0].info is None:
            return None
        masks = () if self._space else (MASK,)  # compared as the mask, not as an info
        infos = (game.info or {} for game in self._games)
        return [json_of({name: value for name, value in info.items() if name not in masks}) for info in infos]

    def declarations(self) -> Mapping[str, Any]:
        own = {"masks": self._has_masks, "replays_states": not self._has_states}
        return {**self._games[0].declarations(), **own}

    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        return np.stack([self._placed(state, int(slot)) for state, slot in zip(states, slots, strict=True)])

    def _placed(self, state: State, slot: int) -> Array:
        if self._has_states:
            observation = self._checked(slot, self._games[slot].push(state), "set_state")
            self._seeds[slot], self._ends[slot] = state[SEED], None
            return observation
        self._seeds[slot] = state[SEED]
        observation = self._begun(slot)
        for action in self._actions_in(state):
            observation = self._act(slot, action).observation
        return observation

    def _actions_in(self, state: State) -> list[Any]:
        """Read the actions of a state in the form that the games take."""
        taken = state[ACTIONS]
        return [*(taken if self._space is None or not taken else self._space.array(taken))]

    def origins(
        self, before: State, actions: NDArray[Any], states: tuple[State, State], fields: Sequence[str]
    ) -> Sequence[tuple[Path, int]]:
        action = int(actions[0]) if self._space is None else np.array(actions[0])
        return self._games[0].origins(before, action, states, fields)

    def close(self) -> None:
        for game in (*self._games, *filter(None, [self._original])):
            game.close()


def _numbers(action: Any) -> int | list[int | float]:
    numbers = action_numbers(np.asarray(action))
    return numbers if isinstance(numbers, int) else list(numbers)
