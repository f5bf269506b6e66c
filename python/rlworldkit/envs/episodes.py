"""Episodes of many games on an engine: the part that all environment APIs share."""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from rlparity import BatchEngine, BatchStep, EngineError, EngineOptions, State, UsageError, World
from rlparity.engine import Array, Slots
from rlworldkit.envs.arguments import check_limit
from rlworldkit.envs.statistics import Statistics
from rlworldkit.score import score_of

T = TypeVar("T")
_LOGGER = logging.getLogger("rlworldkit")


class EpisodeStep(NamedTuple):
    """Output of one step of all n games.

    reward, components, events: as in BatchStep, 0 for lost games; events are 0 in worlds without events.
    terminated, truncated: bool (n,). lost: the truncated games that were lost because the engine failed.
    failure: why it failed, or None.
    """

    reward: Array
    components: Array
    events: Array
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    lost: NDArray[np.bool_]
    failure: str | None


class EpisodeOptions(TypedDict, total=False):
    """Options that all environments take.

    engine: one of the world's engines; None: its first.
    deadline: seconds that the engine may take for an answer, if it supports a limit; None: the engine's default.
    restart: restart an engine that fails: the next step plays nothing and truncates the lost episodes, with the reason
        in ``info["engine_restarted"]``. EngineError is raised without this option, or if a restarted engine fails
        before it has played a step.
    max_episode_steps: an episode is truncated after this many steps, even if it terminates with the last of them, as
        Gymnasium's ``TimeLimit`` does; None and -1: only the world truncates.
    prices: prices of the reward that differ from the world's own, by name.
    """

    engine: str | None
    deadline: float | None
    restart: bool
    max_episode_steps: int | None
    prices: Mapping[str, object] | None


class SingleThreadGuard:
    """Guard that admits one thread at a time and raises UsageError for others, which would read its answers.

    ``claim`` keeps other threads out until this thread leaves its next ``with`` block, even after Ctrl+C in between.
    """

    def __init__(self) -> None:
        # a dict, whose changes are atomic, too: Ctrl+C during the release of a lock could leave it locked
        self._inside: dict[str, int] = {}

    def claim(self) -> None:
        """Keep other threads out."""
        me = threading.get_ident()
        if self._inside.setdefault("thread", me) != me:
            raise UsageError("another thread is playing in this environment: give each thread its own.")

    def __enter__(self) -> None:
        self.claim()

    def __exit__(self, *_: object) -> None:
        self._inside.clear()


class Episodes:
    """``num_games`` games of a world, their observations, and the statistics of their episodes.

    ``observation`` (n, *shape), ``mask`` bool (n, actions), ``seeds`` uint64 (n,) and ``facts`` (n, facts), int64 or
    float64, come from the engine's last answer; every step makes new arrays.

    Raises:
        UsageError: an option is wrong, or another thread is playing.
        EngineError: the engine cannot be started or, later, fails.
    """

    observation: Array
    mask: NDArray[np.bool_]
    seeds: NDArray[np.uint64]
    facts: Array

    def __init__(self, world: World, num_games: int, **options: Unpack[EpisodeOptions]) -> None:
        if num_games < 1:
            raise UsageError(f"there must be at least one game, not {num_games}.")
        if unknown := options.keys() - EpisodeOptions.__annotations__:
            raise TypeError(f"there is no option {min(unknown)!r}: choose {', '.join(EpisodeOptions.__annotations__)}")
        world = world.with_prices(options.get("prices") or {})
        self.engine = options.get("engine") or next(iter(world.engines))
        if self.engine not in world.engines:
            raise UsageError(f"there is no engine {self.engine!r}: choose {' or '.join(world.engines)}.")
        self.world, self.score, self.num_games = world, score_of(world), num_games
        self._user = SingleThreadGuard()
        self._deadline, self._restart = options.get("deadline"), options.get("restart", False)
        self._max_episode_steps = check_limit(options.get("max_episode_steps"))
        self._all: Slots = np.arange(num_games)
        self._actions = np.zeros(num_games, np.int32)
        self._lost = np.zeros(num_games, np.bool_)
        self._failure: str | None = None
        self._has_played = True
        self._engine = self._open()
        # random, so that the first games without a seed, which follow these by the world's rule, are random, too
        seeds = np.random.default_rng().integers(1 << 64, size=num_games, dtype=np.uint64)
        observation, facts = self._engine.reset(seeds, self._all), self._engine.facts()
        self._no_facts, self._no_events = np.zeros((num_games, 0)), np.zeros(num_games, np.uint32)
        is_float = facts is None or np.issubdtype(facts.dtype, np.floating)
        self._type_of_facts: type[np.float64] | type[np.int64] = np.float64 if is_float else np.int64
        self._see(observation, ~self._lost)
        events = [world.events.index(name) for name in world.counted_events]
        self.statistics = Statistics(len(world.components), len(world.actions), self.facts, events)

    def _own(self, seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return np.concatenate([self.world.game_seeds(seed, 1) for seed in seeds.tolist()])

    def start(self, slots: Slots, seeds: NDArray[np.uint64] | None = None, *, in_place: bool = False) -> None:
        """Start episodes in slots (k,): from seeds (k,) or, without seeds, the next games by the world's rule.

        ``in_place`` writes into the arrays of the last step instead of copies, for callers that have not
        returned these arrays to anybody.
        """
        with self._user:
            observation = self._insist(
                lambda: self._engine.restart(slots) if seeds is None else self._engine.reset(self._own(seeds), slots)
            )
            self._place(observation, slots, in_place=in_place)

    def start_from(self, states: Sequence[State], slots: Slots) -> None:
        """Start episodes in slots (k,) from complete states (k,); raises StateRefused for an invalid state."""
        with self._user:
            self._place(self._insist(lambda: self._engine.set_state(states, slots)), slots, in_place=False)

    def begin_step(self, actions: NDArray[np.integer[Any]], resting: Slots | None = None) -> None:
        """Start a step of all games with actions (n,), numbers of the world's actions; ``finish_step`` must follow.

        resting: games (k,) whose step is ignored, because ``start`` follows for them.
        """
        self._user.claim()
        self._actions = np.asarray(actions, np.int32)
        if resting is not None and resting.size:
            self._insist(lambda: self._engine.rest(resting))
        self._insist(lambda: self._engine.begin_step(self._actions, restarting=False))

    def finish_step(self) -> EpisodeStep:
        """Finish the step and return its output. Games that ended stay as they are until ``start``."""
        with self._user:
            return self._finish_step()

    def _finish_step(self) -> EpisodeStep:
        step = self._finished()
        lost = self._lost.copy()
        played = ~lost
        if self._failure is None or played.any():
            self._has_played = True
            self._see(step.observation, played)
        components, terminated = self._of_played(step.components), self._of_played(step.terminated)
        events = self._no_events if step.events is None else self._of_played(step.events)
        self.statistics.add(self._actions, components, self.facts, played, events)
        truncated = lost.copy() if step.truncated is None else lost | step.truncated
        if self._max_episode_steps is not None:
            truncated |= self.statistics.steps >= self._max_episode_steps
        return EpisodeStep(self._of_played(step.reward), components, events, terminated, truncated, lost, self._failure)

    def get_states(self, slots: Slots | None = None) -> list[State]:
        """The complete states of these games, or of all."""
        with self._user:
            return self._insist(lambda: self._engine.get_state(self._all if slots is None else slots))

    def _open(self) -> BatchEngine:
        options = EngineOptions(packed=True, deadline=self._deadline, prices=self.world.price_values)
        return self.world.engines[self.engine](self.num_games, options)

    def close(self) -> None:
        """Close the engine."""
        self._engine.close()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the engine, which is opened again with the same states."""
        return {**self.__dict__, "_engine": self.get_states(), "_user": None, "score": None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)
        self._user, self.score = SingleThreadGuard(), score_of(self.world)
        self._engine = self._open()
        self._engine.set_state(kept["_engine"], self._all)

    def _finished(self) -> BatchStep:
        """Return the engine's step, or an empty one (all 0) if the engine failed and was restarted."""
        try:
            return self._engine.step(self._actions)
        except EngineError as error:
            self._recover(error)
        components = np.zeros((self.num_games, len(self.world.components)), np.int32)
        reward, terminated = np.zeros(self.num_games, np.float32), np.zeros(self.num_games, np.bool_)
        return BatchStep(self.observation, components, reward, terminated)

    def _insist(self, call: Callable[[], T]) -> T:
        """Call a function, and retry it once on a restarted engine if the engine fails."""
        try:
            return call()
        except EngineError as error:
            self._recover(error)
            return call()

    def _recover(self, error: EngineError) -> None:
        """Restart the engine, with all games lost; raises the error without ``restart``, or after a useless restart."""
        if not (self._restart and self._has_played):
            raise error
        self._engine.close()
        self._engine = self._open()
        self._engine.reset(self.seeds, self._all)
        self._lost[:] = True
        self._failure, self._has_played = str(error), False
        _LOGGER.warning("the engine was started again: %s", error)

    def _of_played(self, values: Array) -> Array:
        """Copy values (n, …), with 0 for lost games."""
        if self._failure is None:
            return values.copy()
        return values * ~self._lost.reshape(-1, *(1,) * (values.ndim - 1))

    def _see(self, observation: Array, played: NDArray[np.bool_]) -> None:
        """Read observation, mask, seeds and facts of the games that ``played`` or have just started."""
        engine = self._engine
        seen = [engine.unpacked(observation), engine.mask().copy(), engine.seeds().copy(), self._engines_facts()]
        if self._failure is not None:
            for new, old in zip(seen, (self.observation, self.mask, self.seeds, self.facts), strict=True):
                new[~played] = old[~played]
        self.observation, self.mask, self.seeds, self.facts = seen

    def _place(self, observation: Array, slots: Slots, *, in_place: bool) -> None:
        """Read observation, mask, seeds and facts of slots (k,), where new episodes start."""
        if not in_place:
            self.observation, self.mask = self.observation.copy(), self.mask.copy()
            self.seeds, self.facts = self.seeds.copy(), self.facts.copy()
        engine, facts = self._engine, self._engines_facts()[slots]
        self.observation[slots] = engine.unpacked(observation)
        self.mask[slots], self.seeds[slots], self.facts[slots] = engine.mask()[slots], engine.seeds()[slots], facts
        if self._failure:
            self._lost[slots] = False
            self._failure = self._failure if self._lost.any() else None
        self.statistics.start(slots, facts)

    def _engines_facts(self) -> Array:
        """Return the engine's facts as int64 or float64, (n, facts)."""
        facts = self._engine.facts()
        return (self._no_facts if facts is None else facts).astype(self._type_of_facts)
