"""Where an equation goes wrong: the kinds of faults, and the elements of its result that each spoils."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from parity.sanitizer.primitives import ELEMENTWISE, MOVING, SCATTERS, bind, window, window_sizes
from parity.sanitizer.values import Array, Place, Value

NEGATIVE = "negative index"
OUT_OF_RANGE = "index out of range"
OVERFLOW = "integer overflow"
ZERO_DIVISION = "division by zero"
NAN, INFINITY = "NaN", "infinity"
UNINITIALISED = "uninitialised value"

_EXACT: Mapping[str, Callable[..., Any]] = {
    "abs": lambda arrays, _: np.abs(arrays[0]),
    "add": lambda arrays, _: np.add(*arrays),
    "cumsum": lambda arrays, params: _cumulated(arrays[0], params["axis"], params["reverse"]),
    "mul": lambda arrays, _: np.multiply(*arrays),
    "neg": lambda arrays, _: np.negative(arrays[0]),
    "reduce_sum": lambda arrays, params: np.sum(arrays[0], axis=tuple(params["axes"])),
    "shift_left": lambda arrays, _: arrays[0] << np.clip(arrays[1], 0, 64),
    "sub": lambda arrays, _: np.subtract(*arrays),
}
_UNBOUNDED: Mapping[str, Callable[..., Any]] = {
    "integer_pow": lambda arrays, params: arrays[0] ** params["y"],
    "reduce_prod": lambda arrays, params: np.prod(arrays[0], axis=tuple(params["axes"])),
    "square": lambda arrays, _: arrays[0] * arrays[0],
}
"""Those whose exact results may not fit 64 bits, so that Python's numbers hold them."""


def faults(equation: Any, place: Callable[[], Place], values: list[Value], result: Any) -> Iterator[tuple[str, Array]]:
    """The kinds of faults of an equation and, bool of the shape of its first result, what they spoil.

    ``place``: the expression in the source that made it.
    """
    name, kind = equation.primitive.name, getattr(result.dtype, "kind", "key")  # a key's dtype has none
    if name == "convert_element_type":
        yield from _conversions(values[0].array, result)
    elif kind == "i" and name == "dot_general":  # doubles hold every sum that fits 32 bits
        doubles = [value.array.astype(np.float64) for value in values]
        [exact] = bind(equation, doubles, {**equation.params, "preferred_element_type": np.dtype(np.float64)})
        yield OVERFLOW, exact != result
    elif kind == "i" and (name in _EXACT or name in _UNBOUNDED):
        yield from _overflows(name, [value.array for value in values], equation.params, result)
    elif name in ("div", "rem") and kind in "iu":
        yield ZERO_DIVISION, np.broadcast_to(values[1].array == 0, result.shape)
    elif name in MOVING:
        if MOVING[name]:
            yield from _reads(equation, place, values, result)
        elif name == "broadcast_in_dim" and not np.shape(values[0].array) and place().call in ("empty", "empty_like"):
            yield UNINITIALISED, np.ones(result.shape, np.bool_)
    elif name in SCATTERS:
        yield from _writes(equation, place, values, result)
    elif name == "empty":
        yield UNINITIALISED, np.ones(result.shape, np.bool_)
    if kind in "fc" and name not in MOVING and name not in SCATTERS and not np.isfinite(result).all():
        yield from _non_finite(name, [value.array for value in values], result)


def _overflows(name: str, arrays: list[Array], params: Mapping[str, Any], result: Array) -> Iterator[tuple[str, Array]]:
    if name in _EXACT and result.dtype.itemsize < 8:
        exact = _EXACT[name]([array.astype(np.int64) for array in arrays], params)
        if name == "shift_left":  # by 32 bits and more all are lost, which int64 need not show
            exact = np.where((arrays[1] >= 0) & (arrays[1] < 32), exact, np.where(arrays[0] == 0, 0, 2**62))
    else:
        exact = {**_EXACT, **_UNBOUNDED}[name]([array.astype(object) for array in arrays], params)
    yield OVERFLOW, np.asarray(exact != result, np.bool_)


def _cumulated(array: Array, axis: int, is_reversed: bool) -> Array:
    return np.flip(np.cumsum(np.flip(array, axis), axis), axis) if is_reversed else np.cumsum(array, axis)


def _conversions(given: Any, result: Array) -> Iterator[tuple[str, Array]]:
    """What does not fit a signed type, or as a float not any whole one; unsigned types wrap whole numbers."""
    kinds = given.dtype.kind, result.dtype.kind
    if kinds[0] in "iu" and kinds[1] == "i" and given.dtype != result.dtype:
        bounds = np.iinfo(result.dtype)
        if given.dtype.itemsize > result.dtype.itemsize or kinds[0] == "u":
            yield OVERFLOW, (given > bounds.max) | (given < bounds.min)
    elif kinds[0] == "f" and kinds[1] in "iu":
        bounds = np.iinfo(result.dtype)
        whole = np.trunc(given.astype(np.float64))
        yield OVERFLOW, ~((whole >= bounds.min) & (whole <= bounds.max))


def _non_finite(name: str, arrays: list[Any], result: Array) -> Iterator[tuple[str, Array]]:
    """NaN that no operand holds, and infinity where all operands are finite."""
    floats = [array for array in arrays if getattr(array.dtype, "kind", "key") in "fc"]
    if name not in ELEMENTWISE:  # any element of an operand may count
        floats = [np.where(np.isnan(array).any(), np.nan, np.abs(array).max(initial=0)) for array in floats]
    had_nan = np.any(np.broadcast_arrays(result, *map(np.isnan, floats))[1:], axis=0) if floats else False
    was_finite = np.all(np.broadcast_arrays(result, *map(np.isfinite, floats))[1:], axis=0) if floats else True
    yield NAN, np.isnan(result) & ~np.asarray(had_nan)
    yield INFINITY, np.isinf(result) & was_finite


def _reads(
    equation: Any, place: Callable[[], Place], values: list[Value], result: Array
) -> Iterator[tuple[str, Array]]:
    """Elements that a gather or dynamic slice took from elsewhere, or from nowhere."""
    params, shape = equation.params, np.array(np.shape(values[0].array))
    if equation.primitive.name != "gather":
        count = MOVING[equation.primitive.name]
        assert count is not None
        starts = np.array([int(value.array) for value in values[count:]])
        sizes = np.array(np.shape(values[1].array) if count == 2 else params["slice_sizes"])
        bad = np.any((starts < 0) | (starts > shape - sizes))
        if bad and "mode" not in place().keywords:
            yield OUT_OF_RANGE, np.ones(result.shape, np.bool_)
        return
    numbers, indices = params["dimension_numbers"], values[1].array
    limits = (shape - np.array(params["slice_sizes"]))[list(numbers.start_index_map)]
    bad = ((indices < 0) | (indices > limits)).any(axis=-1)
    if bad.any():
        spoiled = np.broadcast_to(np.expand_dims(bad, tuple(map(int, numbers.offset_dims))), result.shape)
        if "mode" not in place().keywords:
            yield OUT_OF_RANGE, spoiled
        elif params["mode"].name == "FILL_OR_DROP" and "fill_value" not in place().keywords:
            yield UNINITIALISED, spoiled


def _writes(
    equation: Any, place: Callable[[], Place], values: list[Value], result: Array
) -> Iterator[tuple[str, Array]]:
    """Elements for which a scatter's update may have been meant that it dropped, or wrote elsewhere."""
    params, indices = equation.params, values[1].array
    numbers = params["dimension_numbers"]
    limits = np.array(result.shape) - np.array(window_sizes(params, values))
    bad = (indices < 0) | (indices > limits[list(numbers.scatter_dims_to_operand_dims)])
    if equation.primitive.name in ("scatter-add", "scatter-sub") and bad.any():
        # adding nothing out of range does no harm
        bad = bad & (values[2].array != 0).any(axis=tuple(numbers.update_window_dims))[..., None]
    if bad.any() and "mode" not in place().keywords:
        yield OUT_OF_RANGE, window(params, values, result.shape, bad)
