"""Addressed random words: each is a pure function of (seed, event number, site, index), in any order, on any device.

The generator is `rlparity.threefry`. Key = (low, high 32 bits of the seed). Counter = (event number, site * 65536 +
index // 2). The word is the first output for an even index, the second for an odd one. Unused words shift no others.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from rlparity.threefry import seed_pair, threefry2x32
from rlworldkit.jax.marks import add, is_collecting_words

_SITE = 1 << 16
"""Number of pairs of words at each site."""
_FOLLOW_UP_EVENT = np.uint32(2**32 - 1)
"""Event number of the words that become other seeds; a game reaches it only after 2**32 - 1 events."""


class Seed(NamedTuple):
    """A 64-bit seed as two uint32 words, the key of its game's draws."""

    low: Array
    high: Array


class EventDraws(NamedTuple):
    """The random words of one event of one game; both leaves have the batch shape."""

    seed: Seed
    event_number: Array
    """uint32."""

    def word(self, site: Array | int, index: Array | int) -> Array:
        """The word (uint32) of one address; ``index`` is uint32 or a constant."""
        index = jnp.asarray(index, jnp.uint32)
        even, odd = threefry2x32(self.seed, (self.event_number, _counter(site, index >> 1)))
        return jnp.where(index & 1 == 0, even, odd)

    def words(self, site: Array | int, count: int, group: Array | int = 0) -> Array:
        """The words at the ``count`` (an even number) indices from ``count * group`` on: uint32 (count, *batch).

        ``site`` and ``group`` are constants or have the batch shape.
        """
        pairs = self.word_pairs(site, count // 2, group)
        return jnp.swapaxes(pairs, 0, 1).reshape((count, *pairs.shape[2:]))

    def word_pairs(self, site: Array | int, count: int, group: Array | int = 0) -> Array:
        """The words of ``2 * count`` indices as pairs: uint32 (2, count, *batch), that of index 2j + i at [i, j].

        This is the generator's own layout; on a TPU, sorting it by index (``words``) costs as much as the generator.
        """
        base = _counter(site, jnp.asarray(group, jnp.uint32) * jnp.uint32(count))
        pairs = jnp.arange(count, dtype=jnp.uint32).reshape((count,) + (1,) * self.event_number.ndim)
        return jnp.stack(threefry2x32(self.seed, (self.event_number, base + pairs)))

    def note(self, site: str, count: int, index: Array | int, words: Array, used: Callable[[], Array]) -> None:
        """Record which words a rule draws, for debuggers; costs nothing outside ``collecting_words``, not even tracing.

        Args:
            site: name of the site.
            count: number of its indices.
            index: index of each word, uint32 below ``count``.
            words: uint32 of the full shape (..., *batch), to which ``index`` and ``used`` are broadcast.
            used: returns whether the rule draws each word, bool.
        """
        if is_collecting_words():
            told = jnp.stack(jnp.broadcast_arrays(jnp.uint32(1), self.event_number, words), axis=-1)
            told = jnp.where(used()[..., None], told, jnp.uint32(0))
            games = words.shape[-1] if self.event_number.ndim else 1
            none = jnp.zeros((games, count, told.shape[-1]), jnp.uint32)
            rows = none.at[jnp.arange(games), index].max(told, mode="drop")
            add({site: rows if self.event_number.ndim else rows[0]})


def _counter(site: Array | int, pair: Array | int) -> Array:
    return jnp.asarray(site, jnp.uint32) * jnp.uint32(_SITE) + jnp.asarray(pair, jnp.uint32)


def below(word: Array, n: Array | int) -> Array:
    """Map a word to an integer in 0..n-1: ``(word * n) >> 32`` exactly, as int32; n is below 2**16."""
    n = jnp.asarray(n).astype(jnp.uint32)
    high, low = word >> 16, word & jnp.uint32(0xFFFF)
    return ((high * n + ((low * n) >> 16)) >> 16).astype(jnp.int32)


def next_seed(seed: Seed) -> Seed:
    """Derive the seed of the game that follows a game: the output at the counter (2**32 - 1, 0)."""
    zero = jnp.zeros_like(seed.low)
    return Seed(*threefry2x32(seed, (zero + _FOLLOW_UP_EVENT, zero)))


def trainer_seeds(seed: int, num_games: int) -> Array:
    """Derive the seeds of a trainer's games, uint32 (num_games, 2): game g's is the output at (2**32 - 1, 1 + g).

    Raises ValueError if the trainer's own ``seed`` is outside 0..2**64-1.
    """
    low, high = seed_pair(seed)
    games = np.arange(num_games, dtype=np.uint32)
    key = np.full_like(games, low), np.full_like(games, high)
    # in numpy: compiling so many small programs of JAX would delay the start by a quarter of a second
    words = threefry2x32(key, (np.full_like(games, _FOLLOW_UP_EVENT), games + np.uint32(1)))
    return jnp.asarray(np.stack(words, axis=-1))
