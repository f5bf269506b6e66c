"""Where an equation goes wrong: the kinds of faults, and the elements of its result that each spoils."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from rlparity.sanitizer.source import call_in
from rlparity.sanitizer.taints import ELEMENTWISE, MOVING, SCATTERS, Array, Value, anywhere, bind

NEGATIVE = "negative index"
OUT_OF_RANGE = "index out of range"
OVERFLOW = "integer overflow"
ZERO_DIVISION = "division by zero"
NAN, INFINITY = "NaN", "infinity"
UNINITIALISED = "uninitialised value"
_ARITHMETIC = frozenset(
    "abs add cumprod cumsum dot_general integer_pow mul neg reduce_prod reduce_sum shift_left square sub".split()
)


def faults(equation: Any, code: Callable[[], str], values: list[Value], result: Any) -> Iterator[tuple[str, Array]]:
    """The kinds of faults of an equation and, bool of the shape of its first result, what they spoil.

    ``code``: the expression in the source that made it.
    """
    name, kind = equation.primitive.name, getattr(result.dtype, "kind", "key")  # a key's dtype has none
    arrays = [value.array for value in values]
    if name == "convert_element_type":
        yield from _conversions(arrays[0], result)
    elif kind == "i" and name in _ARITHMETIC:
        # a result that has wrapped differs from the exact one by 2 ** bits at least, far more than doubles round
        distance = np.abs(_in_doubles(equation, arrays) - result)
        yield OVERFLOW, ~(distance < 2.0 ** (8 * result.dtype.itemsize - 1))
    elif name in ("div", "rem") and kind in "iu":
        yield ZERO_DIVISION, np.broadcast_to(arrays[1] == 0, result.shape)
    elif name == "gather":
        yield from _gathered(equation, code, arrays)
    elif name in ("dynamic_slice", "dynamic_update_slice"):
        sizes = equation.params["slice_sizes"] if name == "dynamic_slice" else arrays[1].shape
        starts = zip(arrays[MOVING[name] :], arrays[0].shape, sizes, strict=True)
        is_wrong = any(not 0 <= int(start) <= whole - size for start, whole, size in starts)
        yield OUT_OF_RANGE, np.full(result.shape, is_wrong and "mode" not in call_in(code())[1])
    elif name in SCATTERS:
        yield from _scattered(equation, code, arrays)
    elif name == "empty" or (name == "broadcast_in_dim" and not np.shape(arrays[0])):
        yield UNINITIALISED, np.full(result.shape, name == "empty" or call_in(code())[0] in ("empty", "empty_like"))
    if kind in "fc" and name not in MOVING and name not in SCATTERS and not np.isfinite(result).all():
        floats = [np.abs(array).astype(np.float64) for array in arrays if getattr(array.dtype, "kind", "key") in "fc"]
        # NaN where an operand is, else infinite where one is; any element of it may count
        operands = sum((each if name in ELEMENTWISE else each.sum() for each in floats), np.float64(0))
        yield NAN, np.isnan(result) & ~np.isnan(operands)
        yield INFINITY, np.isinf(result) & np.isfinite(operands)


def _in_doubles(equation: Any, arrays: list[Array]) -> Array:
    """The result of arithmetic, rounded but not wrapped."""
    doubles = [array.astype(np.float64) for array in arrays]
    if equation.primitive.name == "shift_left":
        return doubles[0] * 2.0 ** doubles[1]
    double = {"preferred_element_type": np.dtype(np.float64)} if equation.primitive.name == "dot_general" else {}
    return bind(equation, doubles, **double)[0]


def _conversions(given: Any, result: Array) -> Iterator[tuple[str, Array]]:
    """What does not fit a signed type, or as a float not any whole one; unsigned types wrap whole numbers."""
    kinds = given.dtype.kind + result.dtype.kind
    if kinds in ("ii", "ui", "fi", "fu"):
        yield OVERFLOW, np.trunc(given.astype(np.float64)) != result.astype(np.float64)


def _gathered(equation: Any, code: Callable[[], str], arrays: list[Array]) -> Iterator[tuple[str, Array]]:
    """Elements that a gather took from elsewhere, or from nowhere."""
    mode = equation.params["mode"]
    nothing = np.zeros(arrays[0].shape, np.bool_)
    [beyond] = bind(equation, [nothing, arrays[1]], mode=type(mode).FILL_OR_DROP, fill_value=True)
    if beyond.any():
        _, keywords = call_in(code())
        if "mode" not in keywords:
            yield OUT_OF_RANGE, beyond
        elif mode.name == "FILL_OR_DROP" and "fill_value" not in keywords:
            yield UNINITIALISED, beyond


def _scattered(equation: Any, code: Callable[[], str], arrays: list[Array]) -> Iterator[tuple[str, Array]]:
    """Elements for which a scatter's update may have been meant that it dropped, or wrote elsewhere."""
    numbers, (operand, indices, updates) = equation.params["dimension_numbers"], arrays
    windows = iter(updates.shape[axis] for axis in numbers.update_window_dims)
    single = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    sizes = [1 if axis in single else next(windows) for axis in range(operand.ndim)]
    limits = (np.array(operand.shape) - sizes)[list(numbers.scatter_dims_to_operand_dims)]
    wrong = (indices < 0) | (indices > limits)
    if equation.primitive.name in ("scatter-add", "scatter-sub"):  # adding nothing out of range does no harm
        wrong &= (updates != 0).any(axis=tuple(numbers.update_window_dims))[..., None]
    if wrong.any() and "mode" not in call_in(code())[1]:
        yield OUT_OF_RANGE, anywhere(equation, wrong, operand)
