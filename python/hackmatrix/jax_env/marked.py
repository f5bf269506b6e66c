"""Playing with marks: the functions of ``env`` on one game, each with the marks that it fired.

Marks are bool, in the order of ``rules.MARKS``. A step, a start and an observation count on their own,
so a step with auto-reset is ``step`` and then ``restart``, and each observation shown is asked for its own.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import env, observation
from hackmatrix.jax_env.halves import computing_in_words
from hackmatrix.jax_env.state import State
from worldkit.jaxkit.batching import batch_native_marked
from worldkit.jaxkit.threefry import Seed


def _with_marks(core: Callable[..., Any]) -> Callable[..., Any]:
    return batch_native_marked(computing_in_words(core), rules.MARKS)


_reset_games = _with_marks(env._reset)
_step_games = _with_marks(env._step)
_restart_games = _with_marks(env._restart_whole)
_compact_games = _with_marks(env._compact)


def reset(seed: Array) -> tuple[State, Array]:
    """As ``env.reset``, with marks."""
    seed = jnp.asarray(seed, jnp.uint32)
    game: tuple[State, Array] = _reset_games(Seed(seed[0], seed[1]))
    return game


def step(state: State, action: Array) -> tuple[State, env.StepResult, Array]:
    """As ``env.step``, with marks."""
    (state, result), fired = _step_games(state, jnp.asarray(action, jnp.int32))
    return state, result, fired


def restart(state: State, wanted: Array) -> tuple[State, Array]:
    """As ``env.restart``, with marks; none where ``wanted`` is false."""
    game: tuple[State, Array] = _restart_games(state, wanted)
    return game


def observe(state: State) -> tuple[Array, Array]:
    """As ``env.observe``, with the marks of the O rules."""
    compact, fired = _compact_games(state)
    return observation.expand(compact), fired
