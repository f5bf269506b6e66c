"""Who plays: trained parameters, a uniform valid player, and a walk along the shortest way to the exit.

A choice depends on what is seen and on (player's seed, game's seed, step) alone, so that an episode is the same
whatever is played beside it, and on either engine.
"""

from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.purejaxrl.checkpointing import load_params
from hackmatrix.purejaxrl.masked_ppo import MASKED_LOGIT
from hackmatrix.purejaxrl.networks import network_of
from hackmatrix.world.policies import ways_to_exit
from parity.errors import ParityError, UsageError

RANDOM, WALK = "random", "walk"

Player = Callable[[NDArray[np.float32], NDArray[np.bool_], NDArray[np.uint64], NDArray[np.int64]], NDArray[np.int32]]
"""Observations float32 (n, 1545), masks bool (n, 28), seeds uint64 (n,), steps (n,) → valid actions int32 (n,)."""


def player_of(name: str, *, deterministic: bool, seed: int) -> Player:
    """``random``, ``walk``, or the parameters in a ``params_*.npz`` file; raises UsageError for anything else.

    ``deterministic`` takes the likeliest action, the first of several; otherwise actions are drawn with ``seed``.
    """
    if name == RANDOM:
        return _drawn(lambda observations: jnp.zeros((len(observations), 28)), deterministic=False, seed=seed)
    if name == WALK:
        return walk
    try:
        params = load_params(Path(name))
        network = network_of(params)
    except ParityError as error:
        raise UsageError(f"{error} Or evaluate {RANDOM} or {WALK}.") from error
    return _drawn(lambda observations: network.apply(params, observations)[0], deterministic=deterministic, seed=seed)


def walk(
    observations: NDArray[np.float32], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
) -> NDArray[np.int32]:
    """A step of a shortest way to the exit around blocks, the first in A2's order; else the first valid action."""
    wanted = masks.astype(np.int32)
    wanted[:, :4] += masks[:, :4] & ways_to_exit(observations)
    return wanted.argmax(axis=1).astype(np.int32)


def _drawn(logits_of: Callable[[Array], Array], *, deterministic: bool, seed: int) -> Player:
    """A player that takes actions by masked logits."""

    @jax.jit
    def choose(seen: Array, mask: Array, words: Array, step: Array) -> Array:
        logits = jnp.where(mask, logits_of(seen), MASKED_LOGIT)
        if deterministic:
            return jnp.argmax(logits, axis=-1)

        def draw(words: Array, step: Array, logits: Array) -> Array:
            key = jax.random.key(seed)
            for number in (words[0], words[1], step):
                key = jax.random.fold_in(key, number)
            return jax.random.categorical(key, logits)

        return jax.vmap(draw)(words, step, logits)

    def player(
        observations: NDArray[np.float32],
        masks: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
        steps: NDArray[np.int64],
    ) -> NDArray[np.int32]:
        return np.asarray(choose(observations, masks, jax_env.seed_pairs(seeds), steps.astype(np.uint32)), np.int32)

    return player
