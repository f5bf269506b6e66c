"""``JaxEngine`` plays a ``JaxEnv`` as a ``rlparity.BatchEngine``: for the harness, environments and evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import Array
from numpy.typing import NDArray

from rlparity import BatchEngine, BatchStep, Draw, Phase, Slots
from rlparity import State as StateDict
from rlparity.adapters.jax_lines import lines_that_differ
from rlparity.threefry import seed_pairs, seeds_of
from rlworldkit.jax import engine_programs as programs
from rlworldkit.jax.engine_backend import on_backend
from rlworldkit.jax.engine_programs import MarkCounts, ObservationArrays, StepArrays
from rlworldkit.jax.env import JaxEnv, State
from rlworldkit.jax.int64_pair import Int64Pair, to_int64
from rlworldkit.jax.joined_env import joined_env, layout_of
from rlworldkit.jax.native.env import is_native
from rlworldkit.jax.switches import fixed_switches, switch
from rlworldkit.jax.trace_cache import load_or_trace

_MIN_WIDTH, _MAX_SHARED_WIDTH = 8, 256
"""Smallest batch, and the largest that is padded to a power of two so that engines of many widths share programs."""
_PROGRAMS: dict[tuple[Any, ...], Callable[..., Any]] = {}
"""Compiled programs by function, environment, marks and width."""


class JaxEngine(BatchEngine):
    """Batch engine that plays ``games`` games of ``env`` with jitted programs; takes and returns numpy arrays.

    Small batches are padded with copies of the last game, which are neither returned nor counted. Programs are compiled
    once for each ``env`` object, so a world shares one object among its engines. marks: count rule marks. prices: of
    the reward, as in ``rlparity.EngineOptions``; None: the world's own.
    """

    @fixed_switches()
    def __init__(self, games: int, env: JaxEnv, *, marks: bool = False, prices: tuple[int, ...] | None = None) -> None:
        self.games = games
        self._prices = np.asarray(env.prices if prices is None else prices, np.int32)
        self._traced, self._own, self._marks = env, on_backend(env), env.marks if marks else ()
        width = max(_MIN_WIDTH, 1 << (games - 1).bit_length()) if games <= _MAX_SHARED_WIDTH else games
        self._original = np.minimum(np.arange(width), games - 1)
        self._is_original = np.arange(width) < games
        self._arrays: Mapping[str, Array] | None = None
        self._computes_arrays = False
        self._begun: tuple[bytes, bool, tuple[State, ObservationArrays, StepArrays, MarkCounts]] | None = None
        self._resting: tuple[frozenset[int], State] = frozenset(), None
        # placeholders until the first reset: their marks do not count
        no_seeds, uncounted = np.zeros((width, 2), np.uint32), np.zeros(width, np.bool_)
        state, _ = self._run_with(self._own, programs.reset, no_seeds, uncounted)
        # XLA itself takes half as long again to compile a step of joined states
        self._layout = layout_of(state) if is_native(self._own) else None
        self._env = self._own if self._layout is None else on_backend(joined_env(env, self._layout))
        self._state = self._joined(state)
        self._observed, _ = self._run(programs.observe, self._state, uncounted)
        self._counts = np.zeros(len(self._marks), np.int64) if self._marks else None

    @property
    def states(self) -> State:
        """The current states, numpy leaves (m, …) with m at least ``games``; rows from ``games`` on are padding."""
        host = jax.tree.map(np.asarray, self._state)  # jax.device_get takes six times as long for hundreds of leaves
        return host if self._layout is None else self._layout.split(host)

    @fixed_switches()
    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        pairs = np.zeros((self.games, 2), np.uint32)
        pairs[slots] = seed_pairs(seeds)
        chosen = self._chosen(slots)
        counted = chosen & self._is_original
        state, fired = self._run_with(self._own, programs.reset, pairs[self._original], counted)
        self._count(fired)
        state = self._joined(state)
        observed, fired = self._run(programs.observe, state, counted)
        if len(slots) < self.games:
            merge = partial(jax.tree.map, partial(_choose_rows, chosen))
            state, observed = merge(state, self._state), merge(observed, self._observed)
        self._forget_rest(slots)
        return self._placed((state, observed, fired), slots)

    @fixed_switches()
    def restart(self, slots: Slots) -> NDArray[Any]:
        resting, before_rest = self._resting
        is_resting = np.isin(slots, list(resting))
        self._forget_rest(slots)
        for before, some in ((before_rest, slots[is_resting]), (self._state, slots[~is_resting])):
            if some.size:
                chosen = self._chosen(some)
                self._placed(self._run(programs.restart, before, self._state, chosen, chosen & self._is_original), some)
        return np.asarray(self._observed.observation)[slots]

    @fixed_switches()
    def seeds(self) -> NDArray[np.uint64]:
        return seeds_of(self._of_games(self._observed.seeds))

    @fixed_switches()
    def mask(self) -> NDArray[np.bool_]:
        return self._of_games(self._observed.mask)

    @fixed_switches()
    def facts(self) -> NDArray[Any] | None:
        return None if self._observed.facts is None else _narrowed(self._of_games(self._observed.facts))

    def rest(self, slots: Slots) -> None:
        self._resting = frozenset(slots.tolist()), self._state

    def _forget_rest(self, slots: Slots) -> None:
        resting, before = self._resting
        left = resting.difference(slots.tolist())
        self._resting = left, before if left else None

    @fixed_switches()
    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """Dispatch the step to JAX without waiting for its result."""
        function = programs.step_restarting if restarting else programs.step
        begun = self._run(function, self._state, actions[self._original], self._is_original)
        self._arrays = self._run(programs.state_arrays, begun[0]) if self._computes_arrays else None
        self._begun = (actions.tobytes(), restarting, begun)

    @fixed_switches()
    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=False)

    @fixed_switches()
    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=True)

    @fixed_switches()
    def get_state(self, slots: Slots) -> list[StateDict]:
        leaves, structure = jax.tree.flatten(self.states)
        return [self._own.to_dict(jax.tree.unflatten(structure, [leaf[slot] for leaf in leaves])) for slot in slots]

    @fixed_switches()
    def set_state(self, states: Sequence[StateDict], slots: Slots) -> NDArray[Any]:
        given = [self._joined(self._own.from_dict(state)) for state in states]

        def with_rows(old: Array, *new: Array) -> NDArray[Any]:
            leaf = np.array(old)
            leaf[slots] = new
            return leaf[self._original]

        state = jax.tree.map(with_rows, self._state, *given)
        observed, fired = self._run(programs.observe, state, self._chosen(slots) & self._is_original)
        self._forget_rest(slots)
        return self._placed((state, observed, fired), slots)

    @fixed_switches()
    def state_arrays(self) -> Mapping[str, NDArray[Any]] | None:
        """Return the states as arrays; after the first call every ``begin_step`` computes them, too."""
        if self._arrays is None:
            self._arrays = self._run(programs.state_arrays, self._state)
        self._computes_arrays = self._arrays is not None
        if self._arrays is None:
            return None
        return {
            name: to_int64(np.stack([self._of_games(word) for word in values], axis=-1))
            if isinstance(values, Int64Pair)
            else self._of_games(values)
            for name, values in self._arrays.items()
        }

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return self._counts

    @fixed_switches()
    def phases(self, state: StateDict, actions: NDArray[Any]) -> tuple[Phase, ...] | None:
        if not self._own.phase_names:
            return None
        given = jax.tree.map(lambda leaf: np.asarray(leaf)[None], self._own.from_dict(state))
        told = self._run_with(self._own, programs.phases, given, actions, np.zeros(1, np.bool_))
        told = jax.tree.map(lambda leaf: np.asarray(leaf)[0], told)
        phases, drawn = [], set[Draw]()
        for name in self._own.phase_names:
            happened, after, words = told[name]
            if happened:
                draws = [draw for draw in _draws(words) if draw not in drawn]
                drawn.update(draws)
                notes_words = bool(told[self._own.phase_names[-1]][2])
                phases.append(Phase(name, self._own.to_dict(after), tuple(draws) if notes_words else None))
        return tuple(phases)

    @fixed_switches()
    def origins(
        self, before: StateDict, actions: NDArray[Any], states: tuple[StateDict, StateDict], fields: Sequence[str]
    ) -> Sequence[tuple[Path, int]]:
        env = self._traced.with_prices(self._prices)  # native programs carry no source lines

        def play(state: State, action: Array) -> tuple[State, dict[str, Any]]:
            step = env.step(state, action)
            shown = {"observation": env.observe(step.final), "components": step.components, "reward": step.reward}
            return step.final, shown | {"terminated": step.terminated, "truncated": step.truncated}

        own, other = map(env.from_dict, states)
        names = {"components": env.components}
        given = env.from_dict(before), np.asarray(actions[0])
        return lines_that_differ(play, given, (own, other), fields, names, (Path(__file__).parents[1],))

    def _run(self, function: Callable[..., Any], *args: Any) -> Any:
        return self._run_with(self._env, function, *args)

    def _run_with(self, env: JaxEnv, function: Callable[..., Any], *args: Any) -> Any:
        if switch("jax_disable_jit"):
            return programs.with_prices(function, env, self._marks, self._prices, *args)
        key = (function, env, self._marks, len(self._original))
        if key not in _PROGRAMS:
            kind = type(env)
            about = [function.__name__, f"{kind.__module__}.{kind.__qualname__}", env.name, *self._marks]
            jitted = jax.jit(partial(programs.with_prices, function, env, self._marks))
            _PROGRAMS[key] = load_or_trace(jitted, self._prices, *args, about=about, packages=env.packages).compile()
        return _PROGRAMS[key](self._prices, *args)

    def _joined(self, state: State) -> State:
        return state if self._layout is None else self._layout.join(state, np)

    def _placed(self, made: tuple[State, ObservationArrays, MarkCounts], slots: Slots) -> NDArray[Any]:
        """Store new states, count their marks, and return the observations of ``slots``."""
        self._state, self._observed, fired = jax.block_until_ready(made)
        self._begun = self._arrays = None
        self._count(fired)
        return np.asarray(self._observed.observation)[slots]

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun is None or self._begun[:2] != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        assert self._begun is not None
        # a failed step, such as out of memory, raises here; numpy's view of its arrays would crash the process
        self._state, self._observed, played, fired = jax.block_until_ready(self._begun[2])
        self._begun = None
        self._count(fired)
        host = StepArrays(*(None if values is None else self._of_games(values) for values in played))  # type: ignore[arg-type]
        if host.facts is not None:
            host = host._replace(facts=_narrowed(host.facts))  # type: ignore[arg-type]
        return BatchStep(self._of_games(self._observed.observation), *host)  # type: ignore[arg-type]

    def _count(self, fired: MarkCounts) -> None:
        if self._counts is not None:
            self._counts = self._counts + np.asarray(fired)

    def _chosen(self, slots: Slots) -> NDArray[np.bool_]:
        chosen = np.zeros(self.games, np.bool_)
        chosen[slots] = True
        return chosen[self._original]

    def _of_games(self, values: Array) -> NDArray[Any]:
        return np.asarray(values)[: self.games]


def _choose_rows(chosen: NDArray[np.bool_], yes: Array, no: Array) -> NDArray[Any]:
    rows = np.array(no)
    rows[chosen] = np.asarray(yes)[chosen]
    return rows


def _narrowed(facts: Any) -> NDArray[Any]:
    """Return facts (n, facts), joined to int64 where they come as pairs of words (n, facts, 2)."""
    return to_int64(facts) if facts.ndim == 3 else facts


def _draws(words: Mapping[str, NDArray[np.uint32]]) -> Iterator[Draw]:
    """Yield the draws that ``EventDraws.note`` recorded, from the words (indices, 3) of each site."""
    for site, rows in words.items():
        for index in np.flatnonzero(rows[:, 0]).tolist():
            _, event, word = rows[index].tolist()
            yield Draw((event, site, index), word)
