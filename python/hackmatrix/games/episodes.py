"""Episodes of many games: what every environment API over the engines shares."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hackmatrix.games.engines import DEADLINE, Slots, open_games
from hackmatrix.games.rows import Rows, rewards
from hackmatrix.games.statistics import Statistics
from hackmatrix.rules import COMPONENTS
from hackmatrix.swift_env.process import SwiftEngineError
from hackmatrix.swift_env.protocol import Refused
from parity.errors import UsageError

T = TypeVar("T")
_LOGGER = logging.getLogger("hackmatrix")


class Step(NamedTuple):
    """What one step of all n games gave.

    reward: float32 (n,). components: int32 (n, 15), thousandths. flags: uint32 (n,), sums of Flag.
    terminated, truncated: bool (n,). lost: the truncated games that an engine took with it when it failed.
    failure: why it failed, or None.
    """

    reward: NDArray[np.float32]
    components: NDArray[np.int32]
    flags: NDArray[np.uint32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    lost: NDArray[np.bool_]
    failure: str | None


class Episodes:
    """``num_games`` games, what is seen of them now, and the statistics of their episodes.

    ``observation`` float32 (n, 1545), ``mask`` bool (n, 28), ``seeds`` uint64 (n,) and ``facts`` uint32 (n, 5)
    are those of the last answer; every step makes new arrays.

    With ``restart``, an engine that fails is started again: the next step truncates the episodes that were
    lost with it, in which it plays nothing. Without it the error goes to the caller. An engine that fails
    again before it has played a single step is not started a third time.

    Args:
        num_games: n.
        engine: ``swift`` or ``jax``.
        deadline: seconds that the engine may take for an answer.
        restart: whether to start a failed engine again.
        max_episode_steps: an episode is truncated after this many steps; None: never.

    Raises:
        UsageError: there is no such engine.
        SwiftEngineError: the engine cannot be started or, later, fails.
    """

    observation: NDArray[np.float32]
    mask: NDArray[np.bool_]
    seeds: NDArray[np.uint64]
    facts: NDArray[np.uint32]

    def __init__(
        self,
        num_games: int,
        engine: str = "swift",
        *,
        deadline: float = DEADLINE,
        restart: bool = False,
        max_episode_steps: int | None = None,
    ) -> None:
        if num_games < 1:
            raise UsageError(f"there must be at least one game, not {num_games}.")
        self.num_games = num_games
        self._engine, self._deadline, self._restart = engine, deadline, restart
        self._max_episode_steps = max_episode_steps
        self.statistics = Statistics(num_games)
        self._actions = np.zeros(num_games, np.int32)
        self._lost = np.zeros(num_games, np.bool_)
        self._failure: str | None = None
        self._has_played = True
        # at random, so that the first games without a seed, which follow these by R6, are random too
        seeds = np.random.default_rng().integers(1 << 64, size=num_games, dtype=np.uint64)
        self._games = open_games(engine, seeds, deadline)
        self._see(self._games.opened)

    def start(self, slots: Slots, seeds: NDArray[np.uint64] | None = None, *, in_place: bool = False) -> None:
        """New episodes in slots (k,), from seeds (k,) or, without any, those that follow by R6.

        ``in_place`` writes into the arrays of the last step instead of copies, for callers that have not
        handed them on.
        """

        def begin() -> Rows:
            return self._games.restart(slots) if seeds is None else self._games.reset(seeds, slots)

        self._place(self._insist(begin), slots, in_place=in_place)

    def start_from(self, states: Sequence[dict[str, Any]], slots: Slots) -> None:
        """New episodes in slots (k,) from complete states (k,); raises ParityError for a wrong one."""
        self._place(self._insist(lambda: self._games.set_states(states, slots)), slots, in_place=False)

    def begin_step(self, actions: NDArray[np.integer[Any]]) -> None:
        """Begin one action (n,), each in 0 … 27, in every game; ``finish_step`` must follow."""
        self._actions = np.asarray(actions, np.int32)
        self._insist(lambda: self._games.send_step(self._actions))

    def finish_step(self) -> Step:
        """What the step begun gave. Games that ended stay as they are until they are started anew."""
        rows = self._receive()
        played, components = ~self._lost, np.zeros((self.num_games, len(COMPONENTS)), np.int32)
        terminated = np.zeros(self.num_games, np.bool_)
        if rows is not None and played.any():
            self._has_played = True
            self._see(rows, played if self._failure else None)
            components, terminated = rows.components * played[:, None], rows.terminated & played
        self.statistics.add(self._actions, components, self.facts[:, 0], played)
        truncated = lost = ~played
        if self._max_episode_steps is not None:
            truncated = lost | ((self.statistics.steps >= self._max_episode_steps) & ~terminated)
        flags = self.facts[:, -1].copy()
        return Step(rewards(components), components, flags, terminated, truncated, lost, self._failure)

    def get_states(self, slots: Slots | None = None) -> list[dict[str, Any]]:
        """The complete states of these games, or of all, as the dicts S of the protocol."""
        return self._insist(lambda: self._games.get_states(slots))

    def close(self) -> None:
        """End the engine."""
        self._games.close()

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the engine, which is opened again where this is read, with the same states."""
        return {**self.__dict__, "_games": self.get_states()}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        states = kept["_games"]
        self.__dict__.update(kept)
        self._games = open_games(self._engine, self.seeds, self._deadline)
        self._games.set_states(states, np.arange(self.num_games))

    def _receive(self) -> Rows | None:
        """The rows of a step; None when the engine failed and was started again."""
        try:
            return self._games.receive_step()
        except SwiftEngineError as error:
            self._recover(error)
            return None

    def _insist(self, call: Callable[[], T]) -> T:
        """What a call gives, once more on a new engine where the engine fails."""
        try:
            return call()
        except SwiftEngineError as error:
            self._recover(error)
            return call()

    def _recover(self, error: SwiftEngineError) -> None:
        """A new engine with new games, all of them lost; raises the error where that is not wanted or no help."""
        if isinstance(error, Refused) or not (self._restart and self._has_played):
            raise error
        self._games.close()
        self._games = open_games(self._engine, self.seeds, self._deadline)
        self._lost[:] = True
        self.facts = self.facts.copy()
        self.facts[:, -1] = 0  # no event is one of the games that are lost
        self._failure, self._has_played = str(error), False
        _LOGGER.warning("the engine was started again: %s", error)

    def _see(self, rows: Rows, played: NDArray[np.bool_] | None = None) -> None:
        """Take what rows (n) show, of the games that played where not all did."""
        seen: list[NDArray[Any]] = [self._games.floats(rows), rows.mask.copy(), rows.seeds.copy(), rows.facts.copy()]
        if played is not None:
            before: list[NDArray[Any]] = [self.observation, self.mask, self.seeds, self.facts]
            for new, old in zip(seen, before, strict=True):
                new[~played] = old[~played]
        self.observation, self.mask, self.seeds, self.facts = seen

    def _place(self, rows: Rows, slots: Slots, *, in_place: bool) -> None:
        """Take what rows (k) of slots (k,) show, where new episodes start."""
        if not in_place:
            self.observation, self.mask = self.observation.copy(), self.mask.copy()
            self.seeds, self.facts = self.seeds.copy(), self.facts.copy()
        self.observation[slots] = self._games.floats(rows)
        self.mask[slots], self.seeds[slots], self.facts[slots] = rows.mask, rows.seeds, rows.facts
        if self._failure:
            self._lost[slots] = False
            self._failure = self._failure if self._lost.any() else None
        self.statistics.start(slots, rows.facts[:, 0])
