"""Addressed random words (G10): Threefry-2x32 with 20 rounds, elementwise on tensors, on any device.

torch has no arithmetic on unsigned 32-bit numbers, so words are int32 tensors that hold the same bits: sums wrap
around, and the copies of the sign bit that a right shift brings in are masked off.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rlparity.threefry import seed_pairs

FOOD_COUNT, POISON_COUNT, PLACE, REAPPEAR, RESPAWN = 1, 2, 3, 4, 5
"""Sites: the purposes of draws."""

PAIRS_OF_A_SITE = 1 << 16
"""Number of addresses of a site; the address after them belongs to the next site."""
_ROTATIONS = tuple(
    tuple(tuple(torch.tensor(number, dtype=torch.int32) for number in (by, 32 - by, (1 << by) - 1)) for by in group)
    for group in ((13, 15, 26, 6), (17, 29, 16, 24))
)
"""Left shift, right shift and mask of each rotation. They are tensors, since torch would otherwise make one of each
number in every call, which takes longer than to shift a few thousand words."""
_PARITY = 0x1BD11BDA
WORD = 0xFFFFFFFF
"""The bits of a word."""


def threefry2x32(key: tuple[Tensor, Tensor], counter: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Both words of one output of the generator (Salmon et al. 2011); all int32, of shapes that broadcast."""
    keys = (*key, key[0] ^ key[1] ^ _PARITY)
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    high = torch.empty_like(x + y)
    x, y = x.expand_as(high).clone(), y.expand_as(high).clone()
    for group in range(5):
        for left, right, mask in _ROTATIONS[group % 2]:
            x += y
            torch.bitwise_left_shift(y, left, out=high)
            y >>= right
            y &= mask
            y |= high
            y ^= x
        x += keys[(group + 1) % 3]
        y += keys[(group + 2) % 3]
        y += group + 1
    return x, y


def words(key: Tensor, event: Tensor, address: Tensor) -> Tensor:
    """The words at both indices of each address.

    Args:
        key: int32 (n, 2).
        event: integers (n,), of which only the lower 32 bits count.
        address: int32 (k,), as ``address`` gives them.

    Returns:
        int32 (n, 2k): the even index of the first address, its odd one, the even index of the second, …
    """
    even, odd = threefry2x32((key[:, :1], key[:, 1:]), (event.to(torch.int32)[:, None], address))
    return torch.stack((even, odd), dim=-1).flatten(1)


def address(site: int, pairs: int, device: torch.device) -> Tensor:
    """Addresses of the words of a site with the indices 0 … 2·pairs − 1: int32 (pairs,)."""
    return torch.arange(pairs, dtype=torch.int32, device=device) + site * PAIRS_OF_A_SITE


def cell(word: Tensor) -> Tensor:
    """The cell of each word, int64: its upper 14 bits (G3)."""
    return ((word >> 18) & 0x3FFF).long()


def between(word: Tensor, low: int, high: int) -> Tensor:
    """A number in low … high from each word, int64: ``low + (word · (high − low + 1)) >> 32``."""
    return low + ((unsigned(word) * (high - low + 1)) >> 32)


def keys_of(seeds: NDArray[np.uint64]) -> Tensor:
    """The keys of games with these seeds (n,), the lower word first: int32 (n, 2)."""
    return torch.from_numpy(seed_pairs(seeds).view(np.int32))


def unsigned(word: Tensor) -> Tensor:
    """The words as numbers in 0 … 2³² − 1, int64."""
    return word.long() & WORD
