"""C types, constants and arrays of translated programs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

TYPES = {
    "bool": "u8",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": "f32",
}
"""C types by dtype. A bool is a byte of 0 or 1."""

Index = NDArray[Any]


class Untranslatable(Exception):
    """Raised for a primitive or dtype without a translation; the message names it."""


@dataclass(frozen=True)
class Value:
    """An array as a C expression: one that all elements share, or that of the element at position ``{}`` in memory.

    index: the position of each element.
    """

    dtype: str
    index: Index
    text: str

    @property
    def is_uniform(self) -> bool:
        """Whether all elements share one expression."""
        return "{}" not in self.text

    @property
    def is_whole(self) -> bool:
        """Whether element i of the array lies at position i in memory, which may hold more elements behind them."""
        return not self.is_uniform and bool(np.array_equal(self.index.ravel(), np.arange(self.index.size)))

    @property
    def base(self) -> str:
        """Name of the variable or array that the expression reads."""
        return self.text.partition("[")[0]

    def at(self, index: Index) -> Self:
        """Select or reshape elements by their positions; a single one becomes an expression."""
        text = self.text.format(index.item()) if index.size == 1 else self.text
        return replace(self, index=index, text=text)


def uniform(dtype: str, text: str, shape: Sequence[int] = ()) -> Value:
    """Make an array whose elements share one expression."""
    return Value(dtype, np.broadcast_to(0, shape), text)


def in_memory(dtype: str, text: str, shape: Sequence[int]) -> Value:
    """Make an array whose element i lies at position i."""
    index = np.arange(int(np.prod(shape)))
    return Value(dtype, index, text).at(index.reshape(shape))


def ctype(dtype: Any) -> str:
    """Return the C type of a dtype; raises Untranslatable if there is none."""
    name = getattr(dtype, "name", str(dtype))
    if name not in TYPES:
        raise Untranslatable(f"dtype {name}")
    return TYPES[name]


def literal(value: Any, dtype: str) -> str:
    """Format a number as a C constant; an integer as its two's complement of 64 bits, cast to its type."""
    if dtype != "float32":
        return f"(({ctype(dtype)}){int(value) % 2**64}ull)"
    number = float(np.float32(value))
    if np.isfinite(number):
        return f"((f32){number.hex()})"
    return "NAN" if np.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)"
