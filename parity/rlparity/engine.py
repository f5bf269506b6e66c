"""Interface of engines, for the harness and all other callers.

A world offers *batch engines*: many parallel games in numbered slots, with all data in arrays whose first axis is the
slot. ``rlparity.views`` has single games, thin views of a batch of one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

State = dict[str, Any]
Array = NDArray[Any]
Slots = NDArray[np.intp]


@dataclass(frozen=True)
class Draw:
    """Random word that a rule drew: its address, as the world's rules define it, and its value."""

    address: tuple[str | int, ...]
    word: int

    @property
    def text(self) -> str:
        """The address in words, such as ``3 ORDER 7``."""
        return " ".join(map(str, self.address))


@dataclass(frozen=True)
class Phase:
    """Phase of a step: its name, the complete state after it, and the words that it drew (None: not reported)."""

    name: str
    state: dict[str, Any]
    draws: tuple[Draw, ...] | None = None


@dataclass(frozen=True)
class BatchStep:
    """Output of one step of ``n`` games, before any game is restarted.

    observation: (n, *observation shape), as the world says.
    components: (n, components) reward components in the world's order; integers compare exactly.
    reward: (n,) float, the total reward; (n, players) in worlds with several players.
    terminated, truncated: (n,) bool, or (n, players); ``truncated`` is absent in worlds without time limits.
    facts: (n, facts) numbers of one type, after the step, in the order of the world's ``facts``; None: it has none.
    events: (n,) unsigned integers: bit *i* is set where the world's event *i* happened; None where it has none.
    """

    observation: Array
    components: Array
    reward: Array
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_] | None = None
    facts: Array | None = None
    events: Array | None = None

    @property
    def ended(self) -> NDArray[np.bool_]:
        """(n,) bool: the episode is terminated or truncated for all players."""
        ended = self.terminated if self.truncated is None else self.terminated | self.truncated
        return np.asarray(ended if ended.ndim == 1 else ended.all(axis=1))


@dataclass(frozen=True)
class EngineOptions:
    """Options for opening an engine; an engine ignores those that it does not know.

    marks: count rule marks.
    packed: observations may be returned in a smaller form, which ``BatchEngine.unpacked`` converts to the world's.
    deadline: maximum seconds for an answer, for engines that can hang; None: the engine's own choice.
    prices: those of the reward, in the order of the world's ``prices`` and in units of its components; None: the
        world's defaults. Engines of a world with prices must heed them.
    """

    marks: bool = False
    packed: bool = False
    deadline: float | None = None
    prices: tuple[int, ...] | None = None


class BatchEngine(ABC):
    """Batch of ``games`` games of one world, each in its slot 0 … games − 1. Worlds implement this interface.

    Arrays that a method returns stay as they are until the engine's next step, reset, restart or set_state.
    ``slots`` is always an array of distinct slot numbers; rows of arguments and results follow its order.

    The first seven methods are required. The others have defaults: ``facts`` (numbers for infos and reports),
    ``unpacked`` (small observations), ``begin_step`` (working ahead), ``rest`` (steps that do not count),
    ``step_restarting`` (auto-reset in one pass), ``infos``, ``declarations``, ``state_arrays`` (fast comparison),
    ``marks``, ``phases``, ``origins``, ``close``.
    """

    games: int

    @abstractmethod
    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> Array:
        """Start new games from ``seeds`` (k,) in ``slots`` (k,); returns their observations (k, …)."""

    @abstractmethod
    def restart(self, slots: Slots) -> Array:
        """Start in ``slots`` (k,) the games that follow the current ones by the world's auto-reset rule.

        Returns their observations (k, …). Where ``step`` starts the next games itself, it only returns those.
        """

    @abstractmethod
    def seeds(self) -> NDArray[np.uint64]:
        """The seed (games,) from which each slot's present game draws."""

    @abstractmethod
    def mask(self) -> NDArray[np.bool_]:
        """(games, actions) bool: which actions are valid now."""

    @abstractmethod
    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        """Play one action (games,) in every game. Restarts nothing: an ended game keeps its last state.

        Actions are in 0 … actions − 1 and may be invalid by the mask; the world's rules define the effect.
        """

    @abstractmethod
    def get_state(self, slots: Slots) -> list[State]:
        """Complete states of ``slots``: JSON values only, canonical (equal states are equal dicts)."""

    @abstractmethod
    def set_state(self, states: Sequence[State], slots: Slots) -> Array:
        """Put ``states`` into ``slots``; returns their observations (k, …).

        ``set_state(get_state(…))`` is the identity. Raises StateRefused, with nothing changed, when a
        state is against the world's rules. Fires no marks but those of making an observation.
        """

    def facts(self) -> Array | None:
        """The world's facts (games, facts) as the games stand now; None in worlds without facts."""
        return None

    def unpacked(self, observation: Array) -> Array:
        """Convert returned observations to the world's form, in an array that belongs to the caller.

        Only an engine that was opened with ``packed`` may return them in another form.
        """
        return np.array(observation)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:  # noqa: B027 - a hint
        """Announce the next ``step`` (or ``step_restarting``) before it is called.

        Engines with a process or a device of their own start working here, so that both engines of a run work at once.
        """

    def rest(self, slots: Slots) -> None:  # noqa: B027 - a hint
        """Announce that the next step is void for the games in ``slots`` (k,): ``restart`` follows it there.

        Batches step as one. Engines whose next game depends on the length of the last must not count this step.
        """

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        """Play one step, and start the next game by the world's auto-reset rule wherever a game ended.

        The observation is then the new game's first one; all else is the step's output. Engines that can do this faster
        in one pass override it.
        """
        step = deepcopy(self.step(actions))
        ended = np.flatnonzero(step.ended)
        if ended.size:
            step.observation[ended] = self.restart(ended)
        return step

    def infos(self) -> list[dict[str, Any]] | None:
        """Info dict of each game since its last reset or step, as JSON values; None: the engine has no infos."""
        return None

    def declarations(self) -> Mapping[str, Any]:
        """Declarations of the engine about its games, as JSON values; what both engines of a run declare must be equal.

        Names such as ``action_space`` are the author's choice. Not compared are ``library``, ``masks`` (whether games
        have any) and ``replays_states`` (a state is only a seed and the actions since then).
        """
        return {}

    def state_arrays(self) -> Mapping[str, Array] | None:
        """Complete states as arrays, field -> (games, …), or None where only dicts are offered.

        All engines of the world that offer them agree in names, shapes and values. They speed up comparing big batches.
        """
        return None

    def marks(self) -> NDArray[np.integer[Any]] | None:
        """Counts of all marks since the engine was opened, in all games together, (marks,) integers.

        In the order of the world's marks. Counts only grow: restart, reset and set_state keep them. Marks of making an
        observation count once for each that reset, restart, set_state and a step returns. None when the engine was not
        opened with marks, or counts none.
        """
        return None

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...] | None:
        """Phases of a step from ``state``, with ``actions`` (1, …) as ``step`` takes them; None: not reported.

        Computed by the functions that make up ``step``, without changing the engine's games and marks. A phase that did
        not happen is left out; the state after the last one is that after the step.
        """
        return None

    def origins(
        self, before: State, actions: NDArray[Any], states: tuple[State, State], fields: Sequence[str]
    ) -> Sequence[tuple[Path, int]]:
        """Files and lines (from 1) of the engine's source that may cause the differences after a step, likeliest first.

        ``before``: state before it; ``states``: this engine's and the other's after it; ``fields``: names that differ.
        """
        return ()

    def close(self) -> None:  # noqa: B027 - only engines that hold something need one
        """Release processes and memory; the engine is not used afterwards."""


GameSeeds = Callable[[int, int], NDArray[np.uint64]]
"""``game_seeds(seed, games)``: the seeds of the games 0 … games − 1 of a run with this seed, uint64 (games,)."""


def consecutive_seeds(seed: int, games: int) -> NDArray[np.uint64]:
    """Seeds ``seed``, ``seed + 1``, … (modulo 2⁶⁴) of a batch's games, (games,) uint64."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed {seed} is outside 0 ... 2^64 - 1: choose one inside.")
    return np.uint64(seed) + np.arange(games, dtype=np.uint64)


class Closable(ABC):
    """An object with a ``close``, usable in a ``with`` block."""

    @abstractmethod
    def close(self) -> None:
        """Release the object's resources."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
