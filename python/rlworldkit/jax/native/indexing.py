"""Translation of operations that arrange elements, or look them up by indices that are computed."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jax.lax import GatherScatterMode

from rlworldkit.jax.native.elementwise import expression
from rlworldkit.jax.native.translator import Equation, Rule, Translator
from rlworldkit.jax.native.values import (
    IN_MEMORY_FROM,
    Index,
    Untranslatable,
    Value,
    constant,
    ctype,
    expressions,
    literal,
    uniform,
)


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
    (value,) = values
    if eqn.outvars[0].aval.size >= IN_MEMORY_FROM and not (value.name or value.is_uniform):
        value = translator.memory(value)
    return [value.at(_ARRANGED[eqn.primitive.name](value.index, eqn.params))]


def _split(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    ends, axis = np.cumsum(eqn.params["sizes"])[:-1], eqn.params["axis"]
    return [values[0].at(part) for part in np.split(values[0].index, ends, axis)]


def _concatenate(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    aval, axis = eqn.outvars[0].aval, eqn.params["dimension"]
    if aval.size < IN_MEMORY_FROM:
        texts = np.concatenate([translator.elements(value) for value in values], axis)
        return [expressions(aval.dtype.name, texts)]
    array = translator.array(aval.dtype.name, aval.shape)
    ends = np.cumsum([value.shape[axis] for value in values])
    for value, part in zip(values, np.split(array.index, ends[:-1], axis), strict=True):
        translator.store(array.at(part), value)
    return [array]


def _pad(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    value, padding = values
    aval = eqn.outvars[0].aval
    kept, target = [], []
    for size, (low, _, between), length in zip(value.shape, eqn.params["padding_config"], aval.shape, strict=True):
        places = low + np.arange(size) * (between + 1)
        inside = (places >= 0) & (places < length)
        kept.append(np.flatnonzero(inside))
        target.append(places[inside])
    array = translator.array(aval.dtype.name, aval.shape)
    translator.store(array, uniform(array.dtype, str(translator.elements(padding)[()]), aval.shape))
    part = array.at(array.index[np.ix_(*target)])
    if part.index.size:
        translator.store(part, value.at(value.index[np.ix_(*kept)]))
    return [array]


def _iota(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    shape, dimension, dtype = eqn.params["shape"], eqn.params["dimension"], eqn.outvars[0].aval.dtype
    numbers = np.arange(shape[dimension]).reshape([-1 if axis == dimension else 1 for axis in range(len(shape))])
    return [constant(np.broadcast_to(numbers, shape).astype(dtype))]


class Lookup(NamedTuple):
    """Where elements of an operand lie, for indices (…, components) that are computed.

    A round of a loop is an element that is read or written. components: for each of the index, where among the indices
    it stands for each element, the operand's limit and its stride. offset: what each element adds to the position.
    """

    indices: Value
    components: Sequence[tuple[Index, int, int]]
    offset: Index

    def position(self, translator: Translator) -> tuple[str, str]:
        """Inside of a loop, the position of this round's element, and whether all its indices are inside."""
        terms, inside = [], ["1"]
        type_ = ctype(self.indices.dtype)
        for place, limit, stride in self.components:
            index = translator.new(type_, self.indices.element(translator.position(place)))
            low = f"{index} < 0" if type_.startswith("i") else "0"
            inside.append(f"!({low} || {index} > {limit})")
            clamped = translator.new("i32", f"{low} ? 0 : {index} > {limit} ? {limit} : (i32){index}")
            terms.append(f"{clamped} * {stride}")
        terms.append(f"({translator.position(self.offset)})")
        return " + ".join(terms), translator.new("u8", " && ".join(inside))


def _strides(shape: Sequence[int]) -> Index:
    return np.array([int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))], np.int64)


def _window_lookup(
    indices: Value,
    shape: Sequence[int],
    result: Sequence[int],
    *,
    sizes: Sequence[int],
    window: Sequence[int],
    indexed: Sequence[int],
    batching: tuple[Sequence[int], Sequence[int]],
    dropped: Sequence[int],
) -> Lookup:
    """The lookup of windows of ``sizes`` in an operand of ``shape``, an element of ``result`` a round.

    window: the axes of the result that run through a window. indexed: axis of the operand of each component. batching:
    axes of the operand that run along with axes of the indices. dropped: axes of the operand that windows lack.
    """
    strides, coordinates = _strides(shape), np.indices(result).reshape(len(result), int(np.prod(result)))
    batch = coordinates[[axis for axis in range(len(result)) if axis not in window]]
    kept = [axis for axis in range(len(shape)) if axis not in dropped and axis not in batching[0]]
    offset = np.zeros(coordinates.shape[1], np.int64)
    for axis, of_operand in zip(window, kept, strict=True):
        offset += coordinates[axis] * strides[of_operand]
    for of_operand, of_indices in zip(*batching, strict=True):
        offset += batch[of_indices] * strides[of_operand]
    first = batch.T @ _strides(indices.shape)[:-1] if len(batch) else np.zeros_like(offset)
    components = [
        (first + component, shape[axis] - sizes[axis], int(strides[axis])) for component, axis in enumerate(indexed)
    ]
    return Lookup(indices, components, offset)


def _gather(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    numbers, aval, sizes = eqn.params["dimension_numbers"], eqn.outvars[0].aval, eqn.params["slice_sizes"]
    operand, indices = map(translator.memory, values)
    lookup = _window_lookup(
        indices,
        operand.shape,
        aval.shape,
        sizes=sizes,
        window=numbers.offset_dims,
        indexed=numbers.start_index_map,
        batching=(numbers.operand_batching_dims, numbers.start_indices_batching_dims),
        dropped=numbers.collapsed_slice_dims,
    )
    fill = None
    if eqn.params["mode"] == GatherScatterMode.FILL_OR_DROP:
        fill = eqn.params["fill_value"]
        fill = literal(_fill_value(aval.dtype) if fill is None else fill, aval.dtype.name)
    array = translator.array(aval.dtype.name, aval.shape)
    with translator.loop(aval.size, indices) as loop:
        position, inside = lookup.position(translator)
        found = operand.element(position) if fill is None else f"{inside} ? {operand.element(position)} : {fill}"
        loop.known[array.name] = translator.new(ctype(aval.dtype), found)
        translator.add(f"{array.name}[i] = {loop.known[array.name]};")
    return [array]


def _fill_value(dtype: Any) -> float:
    if dtype.name == "float32":
        return np.nan
    return 1 if dtype.name == "bool" else np.iinfo(dtype).max if dtype.kind == "u" else np.iinfo(dtype).min


def _scatter(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    numbers, mode = eqn.params["dimension_numbers"], eqn.params["mode"]
    dtype, updates_shape = eqn.outvars[0].aval.dtype.name, eqn.invars[2].aval.shape
    combined = eqn.primitive.name.removeprefix("scatter").lstrip("-_")
    if dtype == "float32" and combined:
        raise Untranslatable(f"{eqn.primitive.name} of float32")
    target, indices, updates = translator.copy(values[0]), *map(translator.memory, values[1:])
    dropped = set(numbers.inserted_window_dims) | set(numbers.operand_batching_dims)
    kept = [axis for axis in range(len(target.shape)) if axis not in dropped]
    sizes = [1] * len(target.shape)
    for axis, of_update in zip(kept, numbers.update_window_dims, strict=True):
        sizes[axis] = updates_shape[of_update]
    lookup = _window_lookup(
        indices,
        target.shape,
        updates_shape,
        sizes=sizes,
        window=numbers.update_window_dims,
        indexed=numbers.scatter_dims_to_operand_dims,
        batching=(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims),
        dropped=numbers.inserted_window_dims,
    )
    translator.finish_loop()
    with translator.loop(updates.index.size):
        position, inside = lookup.position(translator)
        position, update = target.element(position), updates.element("i")
        new = expression(combined, dtype, position, update) if combined else update
        condition = "" if mode == GatherScatterMode.CLIP else f"if ({inside}) "
        translator.add(f"{condition}{position} = {new};")
    translator.finish_loop()
    return [target]


def _dynamic_slice(operand: Array, *starts: Array, slice_sizes: Sequence[int]) -> Array:
    """A window whose start is computed, by a lookup."""
    axes = tuple(range(operand.ndim))
    numbers = lax.GatherDimensionNumbers(axes, (), axes)
    return lax.gather(operand, jnp.stack(starts), numbers, slice_sizes, mode=GatherScatterMode.CLIP)


def _dynamic_update_slice(operand: Array, update: Array, *starts: Array) -> Array:
    axes = tuple(range(operand.ndim))
    numbers = lax.ScatterDimensionNumbers(axes, (), axes)
    return lax.scatter(operand, jnp.stack(starts), update, numbers, mode=GatherScatterMode.CLIP)


def _stack(*arrays: Array, axis: int) -> Array:
    return lax.concatenate([lax.expand_dims(array, (axis,)) for array in arrays], axis)


def _cumulated(combine: Callable[[Array, Array], Array], neutral: int | None) -> Rule:
    """The rule of all sums, or the like, of the first elements along an axis."""

    def cumulate(operand: Array, *, axis: int, reverse: bool) -> Array:
        if neutral is not None and operand.dtype == np.float32:
            raise Untranslatable("cumulated float32")
        rows = jnp.moveaxis(operand, axis, 0)
        start = rows[-1 if reverse else 0] if neutral is None else jnp.full_like(rows[0], neutral)
        _, found = lax.scan(lambda total, row: (combine(total, row),) * 2, start, rows, reverse=reverse)
        return jnp.moveaxis(found, 0, axis)

    return _by_others(cumulate)


def _by_others(function: Callable[..., Array]) -> Rule:
    """The rule of a primitive that ``function``, of its inputs and parameters, computes by other primitives."""

    def rule(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
        given = [jax.ShapeDtypeStruct(atom.aval.shape, atom.aval.dtype) for atom in eqn.invars]
        return translator.closed(jax.make_jaxpr(partial(function, **eqn.params))(*given), values)

    return rule


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ARRANGED, _arrange),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"), _scatter),
    "split": _split,
    "concatenate": _concatenate,
    "pad": _pad,
    "iota": _iota,
    "gather": _gather,
    "stack": _by_others(_stack),
    "cumsum": _cumulated(lax.add, 0),
    "cumprod": _cumulated(lax.mul, 1),
    "cummax": _cumulated(lax.max, None),
    "cummin": _cumulated(lax.min, None),
    "dynamic_slice": _by_others(_dynamic_slice),
    "dynamic_update_slice": _by_others(_dynamic_update_slice),
}
