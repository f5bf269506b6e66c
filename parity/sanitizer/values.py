"""Values of an interpreted program, each with a taint, and the places in the source where their faults arise."""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Taint = NDArray[np.uint32] | None
"""For each element the bits of the sites whose faults it depends on; None: it depends on none."""
BITS = 32
"""Sites that one call tells apart; what goes wrong at more of them shares the last bit."""


@dataclass(slots=True, eq=False)
class Value:
    """A value: an array of NumPy, or of JAX where it holds random keys. made: its equation and operands, if needed."""

    array: Any
    taint: Taint = None
    made: tuple[Any, list[Value]] | None = None


class Place(NamedTuple):
    """An expression in the source. call, keywords: the function that it calls, if it does, by these arguments."""

    file: str
    line: int
    column: int
    end: tuple[int, int]
    function: str
    code: str
    call: str = ""
    keywords: frozenset[str] = frozenset()


class Site(NamedTuple):
    """A kind of fault at a place."""

    kind: str
    place: Place


def place_of(equation: Any) -> Place:
    """The expression, outside JAX, that made an equation."""
    from jax._src import source_info_util

    frame = source_info_util.user_frame(equation.source_info.traceback)
    if frame is None:
        return Place("unknown", 0, 0, (0, 0), "", equation.primitive.name)
    lines = [
        linecache.getline(frame.file_name, number).encode() for number in range(frame.start_line, frame.end_line + 1)
    ]
    if lines:
        lines[-1] = lines[-1][: frame.end_column]
        lines[0] = lines[0][frame.start_column :]
    code = b"".join(lines).decode(errors="replace")
    end = frame.end_line, frame.end_column
    place = Place(
        frame.file_name, frame.start_line, frame.start_column, end, frame.function_name, " ".join(code.split())
    )
    try:
        parsed = ast.parse(f"({code})", mode="eval").body
    except SyntaxError:
        return place
    if not isinstance(parsed, ast.Call):
        return place
    name = getattr(parsed.func, "attr", getattr(parsed.func, "id", ""))
    return place._replace(call=name, keywords=frozenset(keyword.arg or "" for keyword in parsed.keywords))


def bits_of(values: list[Value]) -> int:
    """All bits in the taints of some values."""
    bits = 0
    for value in values:
        if value.taint is not None:
            bits |= int(np.bitwise_or.reduce(value.taint, axis=None))
    return bits


def with_condition(value: Value, condition: Array) -> Value:
    """The value with the taint of a condition, whose axes are the value's first ones, in every element."""
    if not condition.any():
        return value
    shape = np.shape(value.array)
    taint = np.broadcast_to(condition.reshape(leading(condition, shape)), shape)
    return Value(value.array, taint if value.taint is None else taint | value.taint)


def leading(array: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which an array is broadcast along the first axes of another one."""
    return np.shape(array) + (1,) * (len(shape) - np.ndim(array))


def taint_of(value: Value) -> Array:
    """The taint of a value as an array."""
    return np.zeros(np.shape(value.array), np.uint32) if value.taint is None else value.taint
