"""Translation of JAX's primitives without control flow: tables of C expressions, and rules that move elements."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.lax import GatherScatterMode

from rlworldkit.jax.native.translator import Equation, Index, Rule, Translator, Untranslatable, Value, ctype, literal

_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_INFIX = {"and": "&", "or": "|", "xor": "^", **_COMPARED}
_WRAPPING = {"add": "+", "sub": "-", "mul": "*"}
_INTEGERS = {
    **{name: f"({{0}} {sign} {{1}})" for name, sign in _INFIX.items()},
    **{name: f"({{t}})(({{u}}){{0}} {sign} ({{u}}){{1}})" for name, sign in _WRAPPING.items()},
    "div": "DIV({t}, {u}, {0}, {1})",
    "rem": "REM({t}, {0}, {1})",
    "not": "({t})~{0}",
    "neg": "({t})(0 - ({u}){0})",
    "abs": "({0} < 0 ? ({t})(0 - ({u}){0}) : {0})",
    "sign": "({t})(({0} > 0) - ({0} < 0))",
    "square": "({t})(({u}){0} * ({u}){0})",
    "max": "({0} > {1} ? {0} : {1})",
    "min": "({0} < {1} ? {0} : {1})",
    "clamp": "({1} >= {2} || {0} >= {2} ? {2} : {1} > {0} ? {1} : {0})",
    "shift_left": "SHIFT({t}, {u}, {0}, <<, {1})",
    "shift_right_logical": "SHIFT({t}, {u}, {0}, >>, {1})",
    "shift_right_arithmetic": "SHIFT_SIGNED({t}, {s}, {0}, {1})",
    "population_count": "({t})POPCOUNT(({u}){0})",
    "select_n": "({0} ? {2} : {1})",
    "convert_element_type": "({t}){0}",
    "copy": "{0}",
    "is_not_zero": "({0} != 0)",
}
_BOOLS = _INTEGERS | {"not": "!{0}"}
_FLOATS = {
    **{name: f"({{0}} {sign} {{1}})" for name, sign in {**_COMPARED, **_WRAPPING, "div": "/"}.items()},
    "neg": "-{0}",
    "abs": "fabsf({0})",
    "sign": "({0} > 0 ? 1.0f : {0} < 0 ? -1.0f : {0})",
    "max": "FMAX({0}, {1})",
    "min": "FMIN({0}, {1})",
    "floor": "floorf({0})",
    "ceil": "ceilf({0})",
    "sqrt": "sqrtf({0})",
    "is_finite": "(isfinite({0}) != 0)",
    "convert_element_type": "TRUNCATE({t}, {0})",
    "copy": "{0}",
    "is_not_zero": "({0} != 0)",
}
"""C expressions by primitive, a table for each kind of number. A primitive that XLA rounds or orders in another way has
none. t: type of the result; u and s: the same type unsigned and signed."""
_FOLDED = {
    "reduce_sum": ("add", 0),
    "reduce_prod": ("mul", 1),
    "reduce_or": ("or", 0),
    "reduce_and": ("and", -1),
    "reduce_xor": ("xor", 0),
    "reduce_max": ("max", "min"),
    "reduce_min": ("min", "max"),
}
"""For each reduction the primitive that combines two numbers, and its neutral number, or the limit that is neutral."""


def _expression(name: str, source: Any, dtype: Any, *args: str) -> str:
    """Format the C expression of a primitive on elements of the dtype ``source``; raises Untranslatable without one."""
    if name == "convert_element_type" and dtype in (np.bool_, source):
        name = "is_not_zero" if dtype == np.bool_ else "copy"
    table = _FLOATS if source == np.float32 else _BOOLS if source == np.bool_ else _INTEGERS
    if name not in table or len(args) > 3:
        raise Untranslatable(f"{name} of {source.name}")
    type_ = ctype(dtype)
    return table[name].format(*args, t=type_, u=type_.replace("i", "u"), s=type_.replace("u", "i"))


def _elementwise(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    aval = eqn.outvars[0].aval
    compute = partial(_expression, eqn.primitive.name, values[0].dtype, aval.dtype)
    return [translator.map(aval, compute, *(value.broadcast(aval.shape) for value in values))]


def _reduce(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    """Reduce along axes by folding the elements, in their order, into those of the result."""
    aval, axes, (value,) = eqn.outvars[0].aval, eqn.params["axes"], values
    if all(value.shape[axis] == 1 for axis in axes):
        return [value.at(value.index.reshape(aval.shape))]
    name, neutral = _FOLDED[eqn.primitive.name]
    if aval.dtype == np.float32:
        raise Untranslatable(f"{eqn.primitive.name} of float32")
    neutral = getattr(_limits(aval.dtype), neutral) if isinstance(neutral, str) else neutral
    total = translator.array(aval)
    translator.store(total, Value.of(aval.dtype, literal(neutral, aval.dtype), aval.shape))
    into = total.at(np.expand_dims(total.index, axes)).broadcast(value.shape)
    if value.index.size:
        with translator.loop(value.index.size, value):
            combined = _expression(name, aval.dtype, aval.dtype, translator.place(into), translator.element(value))
            translator.write(into, combined)
    return [total]


def _limits(dtype: Any) -> Any:
    return np.iinfo(np.uint8 if dtype == np.bool_ else dtype)


def _broadcast(index: Index, params: dict[str, Any]) -> Index:
    shape, axes = params["shape"], params["broadcast_dimensions"]
    sizes = [index.shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(shape))]
    return np.broadcast_to(index.reshape(sizes), shape)


def _slice(index: Index, params: dict[str, Any]) -> Index:
    strides = params["strides"] or (1,) * index.ndim
    bounds = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return index[tuple(slice(*each) for each in bounds)]


_ARRANGED: dict[str, Callable[[Index, dict[str, Any]], Index]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda index, params: index.reshape(params["new_sizes"]),
    "squeeze": lambda index, params: np.squeeze(index, tuple(params["dimensions"])),
    "expand_dims": lambda index, params: np.expand_dims(index, tuple(params["dimensions"])),
    "transpose": lambda index, params: np.transpose(index, params["permutation"]),
    "slice": _slice,
    "rev": lambda index, params: np.flip(index, params["dimensions"]),
    **dict.fromkeys(("copy", "copy_p", "stop_gradient"), lambda index, params: index),
}


def _arrange(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    return [values[0].at(_ARRANGED[eqn.primitive.name](values[0].index, eqn.params))]


def _split(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    ends, axis = np.cumsum(eqn.params["sizes"])[:-1], eqn.params["axis"]
    return [values[0].at(part) for part in np.split(values[0].index, ends, axis)]


def _concatenate(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    array, axis = translator.array(eqn.outvars[0].aval), eqn.params["dimension"]
    ends = np.cumsum([value.shape[axis] for value in values])
    for value, part in zip(values, np.split(array.index, ends[:-1], axis), strict=True):
        translator.store(array.at(part), value)
    return [array]


def _pad(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    (value, padding), array = values, translator.array(eqn.outvars[0].aval)
    edges = zip(value.shape, eqn.params["padding_config"], strict=True)
    places = [low + np.arange(size) * (between + 1) for size, (low, _, between) in edges]
    inside = [(each >= 0) & (each < size) for each, size in zip(places, array.shape, strict=True)]
    kept, target = np.ix_(*inside), np.ix_(*(each[within] for each, within in zip(places, inside, strict=True)))
    translator.store(array, padding.broadcast(array.shape))
    translator.store(array.at(array.index[target]), value.at(value.index[kept]))
    return [array]


def _iota(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    aval, dimension = eqn.outvars[0].aval, eqn.params["dimension"]
    return [translator.constant(np.indices(aval.shape, aval.dtype)[dimension])]


def _positions(indices: Array, *, numbers: Any, shape: Sequence[int], result: Sequence[int]) -> tuple[Array, Array]:
    """Return the positions of window elements in an operand, int32 of shape ``result``, and whether they are inside.

    indices: (…, components). numbers: dimension numbers of a gather, or of a scatter with updates of shape ``result``.
    """
    window, dropped, indexed, *batching = numbers[:5]
    batch = [axis for axis in range(len(result)) if axis not in window]
    kept = [axis for axis in range(len(shape)) if axis not in (*dropped, *batching[0])]
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    sizes = {axis: result[along] for along, axis in zip(window, kept, strict=True)}
    along = [*zip(window, kept, strict=True), *((batch[each], axis) for axis, each in zip(*batching, strict=True))]
    coordinates = np.indices(result, np.int32)
    position = jnp.asarray(sum((coordinates[each] * strides[axis] for each, axis in along), np.zeros(result, np.int32)))
    inside, limits = jnp.ones(result, bool), _limits(indices.dtype)
    wide = jnp.clip(indices, max(-1, limits.min), min(2**31 - 1, limits.max)).astype(jnp.int32)
    for component, axis in enumerate(indexed):
        start, last = lax.broadcast_in_dim(wide[..., component], result, batch), shape[axis] - sizes.get(axis, 1)
        inside &= (start >= 0) & (start <= last)
        position += jnp.clip(start, 0, last) * strides[axis]
    return position, inside


def _gather(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    numbers, aval, fill = eqn.params["dimension_numbers"], eqn.outvars[0].aval, eqn.params["fill_value"]
    operand = translator.memory(values[0])
    where = partial(_positions, numbers=numbers, shape=operand.shape, result=aval.shape)
    position, inside = translator.by_jax(where, values[1])
    if eqn.params["mode"] != GatherScatterMode.FILL_OR_DROP:
        return [translator.map(aval, operand.text.format, position)]
    if fill is None and aval.dtype != np.float32:
        fill = _limits(aval.dtype).min if aval.dtype.kind == "i" else _limits(aval.dtype).max
    other = literal(np.nan if fill is None else fill, aval.dtype)
    return [translator.map(aval, lambda at, ok: f"{ok} ? {operand.text.format(at)} : {other}", position, inside)]


def _scatter(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    aval, combined, updates = eqn.outvars[0].aval, eqn.primitive.name.removeprefix("scatter").lstrip("-_"), values[2]
    if aval.dtype == np.float32 and combined:
        raise Untranslatable(f"{eqn.primitive.name} of float32")
    numbers, clips = eqn.params["dimension_numbers"], eqn.params["mode"] == GatherScatterMode.CLIP
    where = partial(_positions, numbers=numbers, shape=aval.shape, result=updates.shape)
    target, (position, inside) = translator.copy(values[0]), translator.by_jax(where, values[1])
    with translator.loop(updates.index.size, position, inside, updates):
        at, ok, update = map(translator.element, (position, inside, updates))
        place = target.text.format(at)
        new = _expression(combined, aval.dtype, aval.dtype, place, update) if combined else update
        translator.add(f"{'' if clips else f'if ({ok}) '}{place} = {new};")
    translator.finish_loop()
    return [target]


def _dynamic_slice(operand: Array, *starts: Array, slice_sizes: Sequence[int]) -> Array:
    """Express ``dynamic_slice`` as a gather."""
    axes = tuple(range(operand.ndim))
    numbers = lax.GatherDimensionNumbers(axes, (), axes)
    return lax.gather(operand, jnp.stack(starts), numbers, slice_sizes, mode=GatherScatterMode.CLIP)


def _dynamic_update_slice(operand: Array, update: Array, *starts: Array) -> Array:
    axes = tuple(range(operand.ndim))
    numbers = lax.ScatterDimensionNumbers(axes, (), axes)
    return lax.scatter(operand, jnp.stack(starts), update, numbers, mode=GatherScatterMode.CLIP)


def _stack(*arrays: Array, axis: int) -> Array:
    return lax.concatenate([lax.expand_dims(array, (axis,)) for array in arrays], axis)


def _arg_extreme(find: Callable[..., Array], operand: Array, *, axes: Sequence[int], index_dtype: Any) -> Array:
    """Return the first index of the largest or smallest element along an axis."""
    (axis,) = axes
    places = lax.broadcasted_iota(index_dtype, operand.shape, axis)
    return jnp.where(operand == find(operand, axis, keepdims=True), places, operand.shape[axis]).min(axis)


def _cumulated(combine: Callable[..., Array], operand: Array, *, axis: int, reverse: bool) -> Array:
    if operand.dtype == np.float32:
        raise Untranslatable("cumulated float32")
    return lax.associative_scan(combine, operand, axis=axis, reverse=reverse)


def _by_jax(function: Callable[..., Array]) -> Rule:
    """Make the rule of a primitive from a function of its inputs and parameters that uses other primitives."""
    return lambda translator, eqn, values: translator.by_jax(partial(function, **eqn.params), *values)


RULES: dict[str, Rule] = {
    **dict.fromkeys({*_INTEGERS, *_FLOATS}, _elementwise),
    **dict.fromkeys(_FOLDED, _reduce),
    **dict.fromkeys(_ARRANGED, _arrange),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"), _scatter),
    "split": _split,
    "concatenate": _concatenate,
    "pad": _pad,
    "iota": _iota,
    "gather": _gather,
    "stack": _by_jax(_stack),
    "argmax": _by_jax(partial(_arg_extreme, jnp.max)),
    "argmin": _by_jax(partial(_arg_extreme, jnp.min)),
    "cumsum": _by_jax(partial(_cumulated, lax.add)),
    "cumprod": _by_jax(partial(_cumulated, lax.mul)),
    "cummax": _by_jax(partial(_cumulated, lax.max)),
    "cummin": _by_jax(partial(_cumulated, lax.min)),
    "dynamic_slice": _by_jax(_dynamic_slice),
    "dynamic_update_slice": _by_jax(_dynamic_update_slice),
}
