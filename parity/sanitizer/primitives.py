"""What the primitives of JAX compute, and which elements of their results a tainted operand reaches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from parity.errors import EngineError
from parity.sanitizer.values import Array, Value, bits_of, taint_of

ELEMENTWISE = frozenset(
    "abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp clz complex conj convert_element_type cos cosh "
    "digamma div eq eq_to erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le le_to lgamma log "
    "log1p logistic lt lt_to max min mul mulhi ne neg nextafter not or population_count pow real reduce_precision rem "
    "round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square sub tan tanh "
    "threefry2x32 xor".split()
)
MOVING = {
    **dict.fromkeys(
        "broadcast_in_dim reshape squeeze transpose slice concatenate stack split rev pad copy copy_p tile".split()
    ),
    "dynamic_slice": 1,
    "dynamic_update_slice": 2,
    "gather": 1,
}
"""Primitives that only move elements, and how many operands hold these; None: all."""
SCATTERS = frozenset(("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max"))
_REDUCING = frozenset("reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor".split())
_CUMULATIVE = frozenset("cumlogsumexp cummax cummin cumprod cumsum".split())
_ABSORBING: Mapping[str, Callable[[Array], Any]] = {
    "and": lambda array: array == 0,
    "mul": lambda array: (array == 0) & (array.dtype.kind in "iu"),
    "or": lambda array: array == np.invert(np.zeros_like(array)),
    "reduce_and": lambda array: array == 0,
    "reduce_or": lambda array: array == np.invert(np.zeros_like(array)),
}
"""Operands that decide the result whatever the other one is."""

_UFUNCS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "and": np.bitwise_and,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "ne": np.not_equal,
    "neg": np.negative,
    "not": np.invert,
    "or": np.bitwise_or,
    "shift_left": np.left_shift,
    "sub": np.subtract,
    "xor": np.bitwise_xor,
}
_WHOLE = "biu"
"""Kinds of dtypes that NumPy computes as XLA does."""


def _broadcast(arrays: list[Array], params: Mapping[str, Any]) -> Array:
    shape = [1] * len(params["shape"])
    for dimension, size in zip(params["broadcast_dimensions"], np.shape(arrays[0]), strict=True):
        shape[dimension] = size
    result = np.empty(params["shape"], arrays[0].dtype)
    result[...] = np.reshape(arrays[0], shape)
    return result


def _slice(arrays: list[Array], params: Mapping[str, Any]) -> Array:
    strides = params["strides"] or (1,) * arrays[0].ndim
    return arrays[0][tuple(map(slice, params["start_indices"], params["limit_indices"], strides))]


_SHAPED: Mapping[str, Callable[[list[Array], Mapping[str, Any]], Array]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda arrays, params: np.concatenate(arrays, params["dimension"]),
    "reshape": lambda arrays, params: np.reshape(arrays[0], params["new_sizes"]),
    "slice": _slice,
    "squeeze": lambda arrays, params: np.squeeze(arrays[0], tuple(params["dimensions"])),
    "stack": lambda arrays, params: np.stack(arrays, params["axis"]),
    "transpose": lambda arrays, params: np.transpose(arrays[0], params["permutation"]),
}


def evaluate(equation: Any, arrays: list[Any]) -> list[Any]:
    """The results of an equation: by NumPy where that is the same and faster, else by JAX."""
    name, params = equation.primitive.name, equation.params
    if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
        if (ufunc := _UFUNCS.get(name)) is not None:
            return [ufunc(*arrays)]
        if (shaped := _SHAPED.get(name)) is not None:
            return [shaped(arrays, params)]
        if name == "select_n" and len(arrays) == 3:
            return [np.where(arrays[0], arrays[2], arrays[1])]
        if name == "convert_element_type" and arrays[0].dtype.kind in _WHOLE:
            return [arrays[0].astype(params["new_dtype"])]
        if name == "shift_right_logical" and arrays[0].dtype.kind == "u":
            return [np.right_shift(*arrays)]
    return bind(equation, arrays, params)


def bind(equation: Any, arrays: list[Any], params: Mapping[str, Any]) -> list[Any]:
    """The results of an equation by JAX; raises EngineError where it cannot be evaluated alone."""
    try:
        results = equation.primitive.bind(*arrays, **equation.primitive.get_bind_params(params))
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise EngineError(
            f"its program has a primitive '{equation.primitive.name}' that cannot be interpreted ({reason})."
        ) from error
    return list(map(to_numpy, results if equation.primitive.multiple_results else [results]))


def to_numpy(array: Any, dtype: Any = None) -> Any:
    """An array as NumPy's, of a type if one is given, but for random keys, which only JAX can hold."""
    import jax

    is_key = hasattr(array, "dtype") and jax.numpy.issubdtype(array.dtype, jax.dtypes.extended)
    return array if is_key else np.asarray(array, dtype)


def propagate(equation: Any, values: list[Value], results: list[Any]) -> list[Array]:
    """The taints of the results, where some operand is tainted."""
    name, params = equation.primitive.name, equation.params
    if name == "select_n":
        return [_selected(values, results[0])]
    if name in ELEMENTWISE:
        return [np.broadcast_to(_joined(name, values), result.shape) for result in results]
    if name in _REDUCING:
        return [_reduced(name, values[0], tuple(params["axes"]))]
    if name in ("argmax", "argmin"):
        return [np.bitwise_or.reduce(taint_of(values[0]), axis=tuple(params["axes"]))]
    if name in _CUMULATIVE:
        step = -1 if params["reverse"] else 1
        taint = np.flip(taint_of(values[0]), params["axis"]) if step < 0 else taint_of(values[0])
        taint = np.bitwise_or.accumulate(taint, axis=params["axis"])
        return [np.flip(taint, params["axis"]) if step < 0 else taint]
    if name == "sort":
        taint = np.bitwise_or.reduce([taint_of(value) for value in values], axis=0)
        taint = np.bitwise_or.reduce(taint, axis=params["dimension"], keepdims=True)
        return [np.broadcast_to(taint, result.shape) for result in results]
    if name in SCATTERS:
        return [_scattered(equation, values, results[0])]
    if name == "gather":
        # a position with a tainted index may hold any element, one with a sound index holds that element
        moved = _moved(equation, values, 1, {"fill_value": 0})[0]
        indices = np.bitwise_or.reduce(taint_of(values[1]), axis=-1)
        offsets = tuple(map(int, params["dimension_numbers"].offset_dims))
        return [moved | np.broadcast_to(np.expand_dims(indices, offsets), results[0].shape)]
    if name in MOVING:
        count = MOVING[name] or len(values)
        bits = np.uint32(bits_of(values[count:]))
        return [taint | bits for taint in _moved(equation, values, count, {})]
    return [np.full(np.shape(result), bits_of(values), np.uint32) for result in results]


def _moved(equation: Any, values: list[Value], count: int, params: Mapping[str, Any]) -> list[Array]:
    """Move the taints of the first operands as the equation moves their elements."""
    arrays = [taint_of(value) for value in values[:count]] + [value.array for value in values[count:]]
    if all(value.taint is None for value in values[:count]) and equation.primitive.name == "gather":
        return [np.uint32(0)]  # type: ignore[list-item]
    if not params:
        return evaluate(equation, arrays)
    return bind(equation, arrays, {**equation.params, **params})


def _joined(name: str, values: list[Value]) -> Array:
    taint: Array = np.uint32(0)  # type: ignore[assignment]
    for value in values:
        if value.taint is not None:
            taint = taint | value.taint
    if (decides := _ABSORBING.get(name)) is not None:
        for value in values:
            taint = np.where(decides(value.array) & (taint_of(value) == 0), np.uint32(0), taint)
    return taint


def _selected(values: list[Value], result: Array) -> Array:
    which, *cases = values
    taints = np.stack([np.broadcast_to(taint_of(case), result.shape) for case in cases])
    index = np.broadcast_to(np.asarray(which.array, np.intp), result.shape)
    taint = np.take_along_axis(taints, index[None], 0)[0]
    if which.taint is not None:  # what all cases agree on does not depend on the choice
        alike = np.all([case.array == cases[0].array for case in cases[1:]], axis=0) & ~taints.any(axis=0)
        taint = taint | np.where(alike, np.uint32(0), which.taint)
    return taint


def _reduced(name: str, value: Value, axes: tuple[int, ...]) -> Array:
    given = taint_of(value)
    taint: Array = np.bitwise_or.reduce(given, axis=axes)
    if (decides := _ABSORBING.get(name)) is not None:
        taint = np.where((decides(value.array) & (given == 0)).any(axis=axes), np.uint32(0), taint)
    return taint


def _scattered(equation: Any, values: list[Value], result: Array) -> Array:
    """The operand's taint, with the updates' at their targets, and that of an index wherever it might have pointed."""
    from jax import lax

    operand, indices, updates = values
    params = equation.params
    replaces = equation.primitive.name == "scatter"
    taint = taint_of(operand)
    if replaces or updates.taint is not None:
        scatter = lax.scatter if replaces else lax.scatter_max
        numbers, mode = params["dimension_numbers"], params["mode"]
        placed = scatter(taint, indices.array, taint_of(updates), numbers, mode=mode)
        taint = np.asarray(placed) if replaces else taint | np.asarray(placed)
    if indices.taint is not None:
        taint = taint | window(params, values, result.shape, indices.taint)
    return taint


def window(params: Mapping[str, Any], values: list[Value], shape: tuple[int, ...], wrong: Array) -> Array:
    """Where a scatter might have written: per element the bits of ``wrong``, (..., indices) as the indices.

    A wrong index might have been any along its dimension; the others, and those of the batch, point as they are.
    """
    numbers, indices = params["dimension_numbers"], values[1].array
    sizes = window_sizes(params, values)
    reached = np.zeros(shape, wrong.dtype)
    for place in map(tuple, np.argwhere(wrong.any(axis=-1))):
        chosen: list[slice] = [slice(None)] * len(shape)
        for dimension, axis in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
            chosen[dimension] = slice(place[axis], place[axis] + 1)
        for dimension, index, is_wrong in zip(
            numbers.scatter_dims_to_operand_dims, indices[place].tolist(), wrong[place].tolist(), strict=True
        ):
            if not is_wrong:
                chosen[dimension] = slice(index, index + sizes[dimension])
        reached[tuple(chosen)] |= np.bitwise_or.reduce(wrong[place])
    return reached


def window_sizes(params: Mapping[str, Any], values: list[Value]) -> list[int]:
    """The size along each dimension of the operand of what a scatter writes for one index."""
    numbers, updates = params["dimension_numbers"], np.shape(values[2].array)
    single = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    given = iter(updates[dimension] for dimension in numbers.update_window_dims)
    return [1 if dimension in single else next(given) for dimension in range(values[0].array.ndim)]
