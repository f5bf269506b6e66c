"""What a translated program computes with: C types, constants, and arrays as variables or in memory."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {
    "bool": "u8",
    **{f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": "f32",
}
"""C types by dtype. A bool is a byte of 0 or 1."""
IN_MEMORY_FROM = 9
"""Arrays of so many elements lie in memory and are computed in loops; each element of a smaller one is a variable."""

_INTEGER = re.compile(r"\(*(?:\([iu]\d+\))?\(?(-?\d+)u?l*\)*")

Index = NDArray[np.int64]
Elements = NDArray[Any]
"""The C expressions of an array's elements; a large array only where all of them are the same expression."""


class Untranslatable(Exception):
    """Something that no translation exists for; the message names it."""


@dataclass(frozen=True)
class Memory:
    """An array in memory: the name of a C array or pointer, and which of its elements are meant, in which shape.

    stride: C expression of the distance between two elements; empty for one.
    """

    name: str
    dtype: str
    index: Index
    stride: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.index.shape

    @property
    def is_whole(self) -> bool:
        """Whether element i of the array is element i in memory; there may be more of them behind."""
        return bool(np.array_equal(self.index.ravel(), np.arange(self.index.size)))

    def element(self, position: object) -> str:
        """The C expression of the element at a position in memory."""
        return f"{self.name}[({position}) * {self.stride}]" if self.stride else f"{self.name}[{position}]"


Value = Elements | Memory


def ctype(dtype: Any) -> str:
    """The C type of a dtype; raises Untranslatable where there is none."""
    name = getattr(dtype, "name", str(dtype))
    if name not in TYPES:
        raise Untranslatable(f"dtype {name}")
    return TYPES[name]


def literal(value: Any, dtype: str) -> str:
    """A number as a C constant."""
    if dtype == "bool":
        return "1" if value else "0"
    if dtype == "float32":
        number = float(np.float32(value))
        if np.isfinite(number):
            return f"((f32){number.hex()})"
        return "NAN" if np.isnan(number) else "INFINITY" if number > 0 else "(-INFINITY)"
    number = int(value)
    if dtype == "uint32":
        return f"{number}u"
    suffix = "ull" if number > 2**63 - 1 or dtype == "uint64" else "ll"
    if dtype == "int32" and abs(number) < 2**31:
        return f"({number})"
    lowest = number == -(2**63)
    return f"(({TYPES[dtype]})({number + lowest}{suffix}{' - 1' * lowest}))"


def constant_of(expression: str) -> int | None:
    """The number that an integer constant, as ``literal`` wrote it, stands for; None for anything else."""
    found = _INTEGER.fullmatch(expression)
    return int(found[1]) if found else None


def is_constant(expression: str) -> bool:
    """Whether an element is a constant, and not a variable or something in memory."""
    return not expression[0].islower() and not expression.startswith("T")


def elements_of(value: Any, dtype: str) -> Elements:
    """The C constants of an array."""
    array = np.asarray(value)
    texts = np.empty(array.shape, object)
    for position in np.ndindex(array.shape):
        texts[position] = literal(array[position], dtype)
    return texts


def is_uniform(value: Value) -> bool:
    """Whether all elements of a value are one expression."""
    return not isinstance(value, Memory) and value.size > 0 and (value == value.flat[0]).all()


def uniform(expression: str, shape: Sequence[int]) -> Elements:
    """An array all of whose elements are one expression."""
    one = np.empty((), object)
    one[()] = expression
    return np.broadcast_to(one, tuple(shape))


def linear(index: Index, variable: str) -> str | None:
    """``index[i]`` as a C expression of ``variable``, if one multiplication and one addition give it."""
    start, step = int(index[0]), int(index[1] - index[0]) if index.size > 1 else 0
    if not np.array_equal(index, start + step * np.arange(index.size)):
        return None
    scaled = "" if step == 0 else variable if step == 1 else f"{variable} * {step}"
    return f"{start} + {scaled}" if scaled and start else scaled or str(start)
