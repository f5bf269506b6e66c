"""Action choice of players: the likeliest one, or one drawn by the policy's probabilities.

A draw depends on (player's seed, game's seed, step) alone. It is the Gumbel-max trick on addressed words, and the one
that ``jax.random.categorical`` makes with the three folded into ``jax.random.key`` in this order (``fold_in``); written
in numpy, so that whoever plays needs no JAX for it.
"""

import numpy as np
from numpy.typing import NDArray

from rlworldkit.threefry import Words, seed_pairs, threefry2x32

_ONE = np.uint32(0x3F800000)
"""The bits of 1.0 in float32."""


def likeliest(logits: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The valid action of the highest logit, the first of several: (n, actions) to int32 (n,)."""
    return np.where(masks, logits, -np.inf).argmax(axis=1).astype(np.int32)


def drawn(
    logits: NDArray[np.float32],
    masks: NDArray[np.bool_],
    seeds: NDArray[np.uint64],
    steps: NDArray[np.int64],
    player_seed: int,
) -> NDArray[np.int32]:
    """Valid actions, each with the probability that the masked logits give it: int32 (n,).

    logits and masks are (n, actions), the seeds and steps of the games (n,), player_seed 0 ... 2**32 - 1.
    """
    return likeliest(logits + _gumbel(seeds, steps, player_seed, logits.shape[1]), masks)


def probabilities(logits: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The softmax over the valid actions, (n, actions); 0 for the others."""
    valid = np.where(masks, logits, -np.inf).astype(np.float64)
    weights = np.exp(valid - valid.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def _gumbel(
    seeds: NDArray[np.uint64], steps: NDArray[np.int64], player_seed: int, num_actions: int
) -> NDArray[np.float32]:
    """Noise of Gumbel's distribution, float32 (n, actions)."""
    low, high = seed_pairs(seeds).T
    nothing = np.zeros_like(low)
    key: tuple[Words, Words] = nothing, np.full_like(low, player_seed)
    for number in (low, high, steps.astype(np.uint32)):
        key = threefry2x32(key, (nothing, number))
    action = np.arange(num_actions, dtype=np.uint32)
    one, other = threefry2x32((key[0][:, None], key[1][:, None]), (np.zeros_like(action), action))
    uniform = ((one ^ other) >> np.uint32(9) | _ONE).view(np.float32) - np.float32(1)
    return -np.log(-np.log(np.maximum(uniform, np.finfo(np.float32).tiny)))
