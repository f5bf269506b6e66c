"""Who plays: trained parameters, chance, and whoever a world has written.

A choice depends on what is seen and on (player's seed, game's seed, step) alone, so that an episode is the same
whatever is played beside it, and on any engine.
"""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from parity import ParityError, UsageError
from worldkit.evaluation.spec import EvaluationSpec, Logits, Player
from worldkit.jaxkit.threefry import seed_pairs

RANDOM = "random"


def player_of(spec: EvaluationSpec, name: str, *, deterministic: bool, seed: int) -> Player:
    """``random``, one of the world's players, or the parameters in a file; raises UsageError for anything else.

    ``deterministic`` takes the likeliest action, the first of several; otherwise actions are drawn with ``seed``.
    """
    num_actions = len(spec.env.world.actions)
    if name == RANDOM:
        return _drawn(lambda observations: jnp.zeros((len(observations), num_actions)), deterministic=False, seed=seed)
    if name in spec.players:
        return spec.players[name]
    names = " or ".join((RANDOM, *spec.players))
    if spec.policy_of is None:
        raise UsageError(f"there is no player {name!r}: evaluate {names}.")
    world = spec.env.world
    try:
        logits_of = spec.policy_of(Path(name))
        found = jax.eval_shape(logits_of, jax.ShapeDtypeStruct((1, *world.observation_shape), jnp.float32)).shape
        if found != (1, num_actions):
            raise ParityError(f"{name} holds a network for another number of actions than the {num_actions} here.")
    except ParityError as error:
        raise UsageError(f"{error} Or evaluate {names}.") from error
    return _drawn(logits_of, deterministic=deterministic, seed=seed)


def _drawn(logits_of: Logits, *, deterministic: bool, seed: int) -> Player:
    """A player that takes actions by masked logits."""

    @jax.jit
    def choose(seen: Array, mask: Array, words: Array, step: Array) -> Array:
        logits = jnp.where(mask, logits_of(seen), -jnp.inf)
        if deterministic:
            return jnp.argmax(logits, axis=-1)

        def draw(words: Array, step: Array, logits: Array) -> Array:
            key = jax.random.key(seed)
            for number in (words[0], words[1], step):
                key = jax.random.fold_in(key, number)
            return jax.random.categorical(key, logits)

        return jax.vmap(draw)(words, step, logits)

    def player(
        observations: NDArray[Any], masks: NDArray[np.bool_], seeds: NDArray[np.uint64], steps: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        return np.asarray(choose(observations, masks, seed_pairs(seeds), steps.astype(np.uint32)), np.int32)

    return player
