"""Values of an interpreted program, and how taints pass from the operands of an equation to its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import EngineError

Array = NDArray[Any]
Taint = NDArray[np.uint32] | None
"""For each element the bits of the sites whose faults it depends on; None: it depends on none."""

ELEMENTWISE = frozenset(
    "abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp clz complex conj convert_element_type cos cosh "
    "digamma div eq eq_to erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le le_to lgamma log "
    "log1p logistic lt lt_to max min mul mulhi ne neg nextafter not or population_count pow real reduce_precision rem "
    "round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square sub tan tanh "
    "threefry2x32 xor".split()
)
MOVING: Mapping[str, int | None] = {
    **dict.fromkeys(
        "broadcast_in_dim reshape squeeze transpose slice concatenate stack split rev pad copy copy_p tile".split()
    ),
    "dynamic_slice": 1,
    "dynamic_update_slice": 2,
    "gather": 1,
}
"""Primitives that only move elements, and how many operands hold these; None: all."""
SCATTERS = frozenset(("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max"))
_REDUCING = frozenset(
    "argmax argmin reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor".split()
)
_MIXING = {"sort": "dimension", **dict.fromkeys("cumlogsumexp cummax cummin cumprod cumsum".split(), "axis")}
"""Primitives that mix the elements along an axis, and the parameter that says which."""
_DECIDING: Mapping[str, Callable[[Array], Any]] = {
    "and": lambda array: array == 0,
    "mul": lambda array: (array == 0) & (array.dtype.kind in "iu"),
    "or": lambda array: np.invert(array) == 0,
}
"""Elements that decide the result whatever the others are."""
_UFUNCS: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "and": np.bitwise_and,
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "mul": np.multiply,
    "ne": np.not_equal,
    "or": np.bitwise_or,
    "shift_left": np.left_shift,
    "sub": np.subtract,
    "xor": np.bitwise_xor,
}
"""The primitives that programs have most of, which NumPy computes as XLA does without its overhead and compiling."""


@dataclass(slots=True, eq=False)
class Value:
    """A value: an array of NumPy, or of JAX where it holds random keys. made: its equation and operands, if needed."""

    array: Any
    taint: Taint = None
    made: tuple[Any, list[Value]] | None = None


def bind(equation: Any, arrays: list[Any], **params: Any) -> list[Any]:
    """The results of an equation, some of its parameters replaced; raises EngineError where it has none alone."""
    primitive = equation.primitive
    if (quick := _quick(equation, arrays)) is not None:
        return [quick]
    try:
        results = _compiled(primitive, tuple({**equation.params, **params}.items()))(*arrays)
    except Exception as error:
        reason = str(error).partition("\n")[0]
        words = f"its program has a primitive '{primitive.name}' that cannot be interpreted ({reason})."
        raise EngineError(words) from error
    return list(map(to_numpy, results if primitive.multiple_results else [results]))


def _quick(equation: Any, arrays: list[Any]) -> Any:
    """The result of one of the commonest primitives, or None."""
    name, params = equation.primitive.name, equation.params
    if not all(isinstance(array, np.ndarray | np.generic) for array in arrays):  # random keys
        return None
    if name in _UFUNCS:
        return _UFUNCS[name](*arrays)
    if name == "select_n" and len(arrays) == 3:
        return np.where(arrays[0], arrays[2], arrays[1])
    if name == "convert_element_type" and arrays[0].dtype.kind in "biu":
        return arrays[0].astype(params["new_dtype"])
    if name == "shift_right_logical" and arrays[0].dtype.kind == "u":
        return np.right_shift(*arrays)
    if name in ("reshape", "squeeze"):
        return arrays[0].reshape(equation.outvars[0].aval.shape)
    if name == "slice" and not params["strides"]:
        return arrays[0][tuple(map(slice, params["start_indices"], params["limit_indices"]))]
    if name == "broadcast_in_dim":
        others = tuple(axis for axis in range(len(params["shape"])) if axis not in params["broadcast_dimensions"])
        return np.broadcast_to(np.expand_dims(arrays[0], others), params["shape"])
    return None


@cache
def _compiled(primitive: Any, params: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    import jax

    return jax.jit(partial(primitive.bind, **dict(params)))


def to_numpy(array: Any, dtype: Any = None) -> Any:
    """An array as NumPy's, of a type if one is given, but for random keys, which only JAX can hold."""
    import jax

    is_key = hasattr(array, "dtype") and jax.numpy.issubdtype(array.dtype, jax.dtypes.extended)
    return array if is_key else np.asarray(array, dtype)


def taint_of(value: Value) -> Array:
    """The taint of a value as an array."""
    return np.zeros(np.shape(value.array), np.uint32) if value.taint is None else value.taint


def with_condition(value: Value, condition: Array) -> Value:
    """The value with the taint of a condition, whose axes are the value's first ones, in every element."""
    return Value(value.array, taint_of(value) | leading(condition, value.array)) if condition.any() else value


def leading(array: Array, other: Any) -> Any:
    """An array so that it is broadcast along the first axes of another one."""
    return array.reshape(np.shape(array) + (1,) * (np.ndim(other) - np.ndim(array)))


def propagate(equation: Any, values: list[Value], results: list[Any]) -> list[Array]:
    """The taints of the results, where some operand is tainted."""
    name, params, taints = equation.primitive.name, equation.params, list(map(taint_of, values))
    shape = np.shape(results[0])
    if name == "select_n":
        return [_selected(equation, values, shape)]
    if name in ELEMENTWISE:
        stacked = np.stack(np.broadcast_arrays(*taints))
        return [np.broadcast_to(_joined(name, values, stacked, (0,)), shape)] * len(results)
    if name in _REDUCING:
        return [_joined(name.removeprefix("reduce_"), values, taints[0], tuple(params["axes"]))]
    if name in _MIXING:
        mixed = np.bitwise_or.reduce(reduce(np.bitwise_or, taints), axis=params[_MIXING[name]], keepdims=True)
        return [np.broadcast_to(mixed, shape)] * len(results)
    if name in SCATTERS:
        return [_scattered(equation, values)]
    if name in MOVING:
        count = MOVING[name] or len(values)
        if name == "gather":  # a tainted index may point to any element
            offsets = tuple(map(int, params["dimension_numbers"].offset_dims))
            indices = np.expand_dims(np.bitwise_or.reduce(taints[1], axis=-1), offsets)
            return [bind(equation, [taints[0], values[1].array], fill_value=0)[0] | indices]
        bits = np.uint32(_bits(taints[count:]))
        return [taint | bits for taint in bind(equation, taints[:count] + [value.array for value in values[count:]])]
    return [np.full(np.shape(result), _bits(taints), np.uint32) for result in results]


def _bits(taints: list[Array]) -> int:
    return reduce(int.__or__, (int(np.bitwise_or.reduce(taint, axis=None)) for taint in taints), 0)


def _joined(name: str, values: list[Value], taint: Array, axes: tuple[int, ...]) -> Array:
    """Taints joined along axes, but where a sound element decides alone."""
    joined: Array = np.bitwise_or.reduce(taint, axis=axes)
    if (decides := _DECIDING.get(name)) is not None:
        arrays = np.broadcast_arrays(*(value.array for value in values))
        elements = np.stack(arrays) if len(arrays) > 1 else arrays[0]
        joined = np.where((decides(elements) & (taint == 0)).any(axis=axes), np.uint32(0), joined)
    return joined


def _selected(equation: Any, values: list[Value], shape: tuple[int, ...]) -> Array:
    which, *cases = values
    taints = [taint_of(case) for case in cases]
    taint: Array = bind(equation, [which.array, *taints])[0]
    if which.taint is not None:  # what all cases agree on does not depend on the choice
        differ = np.any([case.array != cases[0].array for case in cases], axis=0) | np.any(taints, axis=0)
        taint = taint | np.where(differ, which.taint, np.uint32(0))
    return np.broadcast_to(taint, shape)


def _scattered(equation: Any, values: list[Value]) -> Array:
    """The operand's taint, with the updates' at their targets, and that of an index wherever it might have pointed."""
    from jax import lax

    operand, indices, updates = values
    replaces = equation.primitive.name == "scatter"
    scatter = lax.scatter if replaces else lax.scatter_max
    given = taint_of(operand), indices.array, taint_of(updates), equation.params["dimension_numbers"]
    placed = np.asarray(scatter(*given, mode=equation.params["mode"]))
    taint = placed if replaces else placed | given[0]
    return taint if indices.taint is None else taint | anywhere(equation, indices.taint, operand.array)


def anywhere(equation: Any, wrong: Array, operand: Array) -> Array:
    """The bits of ``wrong``, in the shape of a scatter's indices, in all elements of the games that it writes to."""
    numbers = equation.params["dimension_numbers"]
    own = numbers.scatter_indices_batching_dims
    bits = np.bitwise_or.reduce(wrong, axis=tuple(axis for axis in range(wrong.ndim) if axis not in own))
    others = tuple(axis for axis in range(operand.ndim) if axis not in numbers.operand_batching_dims)
    return np.broadcast_to(np.expand_dims(bits, others), operand.shape)
