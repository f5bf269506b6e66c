"""The programs that ``JaxEngine`` compiles: pure functions of an environment, mark names, and arrays of games."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from rlworldkit.jax.batching import choose, where_wanted
from rlworldkit.jax.env import JaxEnv, State, StepOutput
from rlworldkit.jax.int64_pair import Int64Pair
from rlworldkit.jax.marks import collecting, collecting_words, packed

Marks = tuple[str, ...]
MarkCounts = Array | None
"""The number of times that each mark fired, int32 (marks,); None where marks are not counted."""

_MIN_CHUNK, _CHUNK_SHARE = 8, 128
"""Games are restarted in chunks of ``_MIN_CHUNK``, or of one game in ``_CHUNK_SHARE`` if that is more."""


class ObservationArrays(NamedTuple):
    """Observations, masks, seeds and facts of the games (n, …) between steps."""

    observation: Array
    mask: Array
    seeds: Array  # uint32 (n, 2), low word first
    facts: Array | None


class StepArrays(NamedTuple):
    """The result of a step of the games (n, …), in the order of ``rlparity.BatchStep`` after the observation."""

    components: Array
    reward: Array
    terminated: Array
    truncated: Array | None
    facts: Array | None
    events: Array | None


def with_prices(
    function: Callable[..., Any], env: JaxEnv, marks: Marks, prices: Array | NDArray[np.int32], *args: Any
) -> Any:
    """Call a program of ``env`` with traced prices, so that other prices need no new compilation."""
    return function(env.with_prices(prices), marks, *args)


def reset(env: JaxEnv, marks: Marks, seeds: Array, counted: Array) -> tuple[State, MarkCounts]:
    """Start games from their seeds."""
    state, fired = _on_games(env.reset, marks)(seeds)
    return state, _count(counted, fired)


def restart(
    env: JaxEnv, marks: Marks, before: State, state: State, wanted: Array, counted: Array
) -> tuple[State, ObservationArrays, MarkCounts]:
    """Start the games that follow those of ``before`` where ``wanted``; elsewhere keep ``state``."""
    state, fired = _next_games(env, marks, before, state, wanted)
    return state, *observe(env, marks, state, counted, fired)


def step(
    env: JaxEnv, marks: Marks, state: State, actions: Array, counted: Array
) -> tuple[State, ObservationArrays, StepArrays, MarkCounts]:
    """Play one step of every game."""
    step, fired = _on_games(env.step, marks)(state, actions)
    observed, counts = observe(env, marks, step.final, counted, fired)
    return step.final, observed, _played(env, step, observed.facts), counts


def step_restarting(
    env: JaxEnv, marks: Marks, state: State, actions: Array, counted: Array
) -> tuple[State, ObservationArrays, StepArrays, MarkCounts]:
    """Play one step of every game, and start the next game where one ended."""
    if marks:  # a mark that fires in the step and in the restart counts twice
        step, fired = _on_games(env.step, marks)(state, actions)
        ended = step.terminated | step.truncated
        state, started = _next_games(env, marks, step.final, step.final, ended)
        assert fired is not None and started is not None  # noqa: PT018
        fired = fired.astype(jnp.int32) + started
    else:
        step, fired = jax.vmap(env.step_autoreset)(state, actions), None
        ended, state = step.terminated | step.truncated, step.state
    observed, counts = observe(env, marks, state, counted, fired)
    facts = observed.facts
    if facts is not None:
        facts = choose(ended, _facts(env, step.final), facts)
    return state, observed, _played(env, step, facts), counts


def phases(
    env: JaxEnv, marks: Marks, state: State, actions: Array, counted: Array
) -> Mapping[str, tuple[Array, State, Mapping[str, Array]]]:
    """The phases of one step by name: whether it happened, the state after it, the words drawn."""
    return jax.vmap(collecting_words(env.phases))(state, actions)


def state_arrays(env: JaxEnv, marks: Marks, state: State) -> Mapping[str, Array | Int64Pair] | None:
    """The states as arrays by name; None where the environment has none."""
    return jax.vmap(env.arrays)(state)


def observe(
    env: JaxEnv, marks: Marks, state: State, counted: Array, fired: MarkCounts = None
) -> tuple[ObservationArrays, MarkCounts]:
    """Observe all games, and count the marks that fired here or before (``fired``) in the games ``counted``."""
    observation, more = _on_games(env.observe, marks)(state)
    observed = ObservationArrays(observation, jax.vmap(env.mask)(state), jax.vmap(env.seed)(state), _facts(env, state))
    return observed, _count(counted, fired, more)


def _count(counted: Array, *fired: Array | None) -> MarkCounts:
    """Sum up marks (n, marks) over the games ``counted``."""
    total = [jnp.sum(each * counted[:, None], axis=0, dtype=jnp.int32) for each in fired if each is not None]
    return sum(total[1:], start=total[0]) if total else None


def _on_games(function: Callable[..., Any], marks: Marks) -> Callable[..., tuple[Any, Array | None]]:
    """Vmap a one-game function; its second result is the marks fired in each game, bool (n, marks), or None."""

    def with_marks(*args: Any) -> tuple[Any, Array]:
        result, fired = collecting(function)(*args)
        return result, packed(fired, marks, ())

    return jax.vmap(with_marks) if marks else lambda *args: (jax.vmap(function)(*args), None)


def _next_games(env: JaxEnv, marks: Marks, before: State, state: State, wanted: Array) -> tuple[State, Array | None]:
    """Start the games that follow those of ``before`` where ``wanted``, bool (n,); elsewhere keep ``state``."""
    none = jnp.zeros((len(wanted), len(marks)), bool) if marks else None
    next_game = _on_games(env.next_game, marks)
    return where_wanted(wanted, next_game, before, (state, none), _MIN_CHUNK, _CHUNK_SHARE)


def _played(env: JaxEnv, step: StepOutput, facts: Array | None) -> StepArrays:
    bits = [step.events[name].astype(jnp.uint32) << bit for bit, name in enumerate(env.events)]
    events = sum(bits, start=jnp.uint32(0)) if bits else None
    truncated = step.truncated if env.can_truncate else None
    return StepArrays(step.components, step.reward, step.terminated, truncated, facts, events)


def _facts(env: JaxEnv, state: State) -> Array | None:
    """Return the facts (n, facts), as pairs of words (n, facts, 2) if they are 64-bit."""
    facts = jax.vmap(env.facts)(state)
    if not facts:
        return None
    return jnp.stack([jnp.stack(fact, axis=-1) if isinstance(fact, Int64Pair) else fact for fact in facts], axis=1)
