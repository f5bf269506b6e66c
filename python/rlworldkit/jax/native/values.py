"""What a translated program computes with: C types, constants, and arrays as variables or in memory."""

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
IN_MEMORY_FROM = 9
"""Arrays of so many elements lie in memory and are computed in loops; each element of a smaller one is a variable."""

Index = NDArray[np.int64]
Texts = NDArray[Any]
"""The C expression of each element of an array."""


class Untranslatable(Exception):
    """Something that no translation exists for; the message names it."""


@dataclass(frozen=True)
class Value:
    """An array: which elements it has, in which shape, of expressions, of an array in memory, or of a table, both.

    index: the number of each element among ``texts``, its position in memory. texts: C expressions; none of what only
    memory knows. name: of the C array or pointer; empty where there is none. stride: C expression of the distance
    between two elements in memory; empty for one.
    """

    dtype: str
    index: Index
    texts: Sequence[str] = ()
    name: str = ""
    stride: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.index.shape

    @property
    def is_whole(self) -> bool:
        """Whether element i of the array is element i in memory; there may be more of them behind."""
        return bool(self.name) and bool(np.array_equal(self.index.ravel(), np.arange(self.index.size)))

    @property
    def is_uniform(self) -> bool:
        """Whether all elements are one expression."""
        return bool(self.texts) and len({self.texts[each] for each in np.unique(self.index).tolist()}) == 1

    @property
    def first(self) -> str:
        """The expression of the first element, or of all."""
        return self.texts[int(self.index.flat[0])]

    def element(self, position: object) -> str:
        """The C expression of the element at a position in memory."""
        return f"{self.name}[({position}) * {self.stride}]" if self.stride else f"{self.name}[{position}]"

    def each(self) -> Texts:
        """The C expression of each element."""
        texts = np.empty(self.shape, object)
        for place, at in np.ndenumerate(self.index):
            texts[place] = self.texts[int(at)] if self.texts else self.element(at)
        return texts

    def at(self, index: Index) -> Self:
        """Other elements of the same, or in another shape."""
        return replace(self, index=index)


def expressions(dtype: str, texts: Texts) -> Value:
    """An array of expressions."""
    return Value(dtype, np.arange(texts.size).reshape(texts.shape), tuple(texts.flat))


def uniform(dtype: str, text: str, shape: Sequence[int]) -> Value:
    """An array all of whose elements are one expression."""
    return Value(dtype, np.zeros(shape, np.int64), (text,))


def constant(array: NDArray[Any]) -> Value:
    """An array of constants."""
    texts = np.empty(array.shape, object)
    for place, number in np.ndenumerate(array):
        texts[place] = literal(number, array.dtype.name)
    return expressions(array.dtype.name, texts)


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


def linear(index: Index, variable: str) -> str | None:
    """``index[i]`` as a C expression of ``variable``, if one multiplication and one addition give it."""
    start, step = int(index[0]), int(index[1] - index[0]) if index.size > 1 else 0
    if not np.array_equal(index, start + step * np.arange(index.size)):
        return None
    scaled = "" if step == 0 else variable if step == 1 else f"{variable} * {step}"
    return f"{start} + {scaled}" if scaled and start else scaled or str(start)
