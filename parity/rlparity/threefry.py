"""Threefry-2x32 with 20 rounds (Salmon et al. 2011): one function for arrays of numpy and of JAX alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = Any
"""uint32 arrays, of numpy or of JAX."""

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = np.uint32(0x1BD11BDA)
_WORD = 0xFFFFFFFF


def threefry2x32(key: tuple[Words, Words], counter: tuple[Words, Words]) -> tuple[Words, Words]:
    """Both words of one output of the generator, elementwise."""
    keys = (key[0], key[1], key[0] ^ key[1] ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            x = x + y
            y = ((y << np.uint32(rotation)) | (y >> np.uint32(32 - rotation))) ^ x
        x = x + keys[(group + 1) % 3]
        y = y + keys[(group + 2) % 3] + np.uint32(group + 1)
    return x, y


def seed_pair(seed: int) -> NDArray[np.uint32]:
    """A 64-bit seed as uint32 (2,): low word, high word; raises ValueError outside 0..2**64-1."""
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"seed {seed} is outside 0..2**64-1")
    return np.array([seed & _WORD, seed >> 32], np.uint32)


def seed_pairs(seeds: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """64-bit seeds (n,) as uint32 (n, 2): low word, high word."""
    return np.stack([seeds & np.uint64(_WORD), seeds >> np.uint64(32)], axis=1).astype(np.uint32)


def seeds_of(pairs: NDArray[np.uint32] | NDArray[np.int32]) -> NDArray[np.uint64]:
    """64-bit seeds (n,) as uint64 of pairs of words (n, 2): the inverse of ``seed_pairs``."""
    low, high = np.ascontiguousarray(pairs).view(np.uint32).astype(np.uint64).T
    return low | high << np.uint64(32)
