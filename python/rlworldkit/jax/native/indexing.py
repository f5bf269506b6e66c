"""Translation of operations that arrange elements, or look them up by indices that are computed."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jax.lax import GatherScatterMode

from rlworldkit.jax.native.elementwise import expression
from rlworldkit.jax.native.translator import Equation, Rule, Translator
from rlworldkit.jax.native.values import (
    IN_MEMORY_FROM,
    Elements,
    Index,
    Memory,
    Untranslatable,
    Value,
    ctype,
    elements_of,
    is_uniform,
    literal,
)


def _broadcast(array: Elements, params: dict[str, Any]) -> Elements:
    shape, axes = params["shape"], params["broadcast_dimensions"]
    sizes = [array.shape[axes.index(axis)] if axis in axes else 1 for axis in range(len(shape))]
    return np.broadcast_to(array.reshape(sizes), shape)


def _slice(array: Elements, params: dict[str, Any]) -> Elements:
    strides = params["strides"] or (1,) * array.ndim
    bounds = zip(params["start_indices"], params["limit_indices"], strides, strict=True)
    return array[tuple(slice(*each) for each in bounds)]


_ARRANGED: dict[str, Callable[[Elements, dict[str, Any]], Elements]] = {
    "broadcast_in_dim": _broadcast,
    "reshape": lambda array, params: array.reshape(params["new_sizes"]),
    "squeeze": lambda array, params: np.squeeze(array, tuple(params["dimensions"])),
    "expand_dims": lambda array, params: np.expand_dims(array, tuple(params["dimensions"])),
    "transpose": lambda array, params: np.transpose(array, params["permutation"]),
    "slice": _slice,
    "rev": lambda array, params: np.flip(array, params["dimensions"]),
    **dict.fromkeys(("copy", "copy_p", "stop_gradient"), lambda array, params: array),
}


def _arranged(value: Value, arrange: Callable[[Elements], Elements]) -> Value:
    """A value with its elements in another order: of an array in memory only the index changes."""
    if isinstance(value, Memory):
        return replace(value, index=arrange(value.index))
    return arrange(value)


def _arrange(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    aval = eqn.outvars[0].aval
    if aval.size >= IN_MEMORY_FROM and not is_uniform(values[0]):
        values = [translator.memory(values[0], aval.dtype.name) if not isinstance(values[0], Memory) else values[0]]
    return [_arranged(values[0], lambda array: _ARRANGED[eqn.primitive.name](array, eqn.params))]


def _split(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    ends, axis = np.cumsum(eqn.params["sizes"])[:-1], eqn.params["axis"]
    if isinstance(values[0], Memory):
        return [replace(values[0], index=index) for index in np.split(values[0].index, ends, axis)]
    return list(np.split(values[0], ends, axis))


def _joined(translator: Translator, eqn: Equation, values: list[Value], axis: int) -> list[Value]:
    aval = eqn.outvars[0].aval
    if aval.size < IN_MEMORY_FROM:
        return [np.concatenate([translator.elements(value) for value in values], axis)]
    array = translator.array(aval.dtype.name, aval.shape)
    ends = np.cumsum([value.shape[axis] for value in values])
    for value, start, end in zip(values, [0, *ends[:-1]], ends, strict=True):
        part = (*(slice(None),) * axis, slice(start, end))
        translator.store(replace(array, index=array.index[part]), value)
    return [array]


def _concatenate(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    return _joined(translator, eqn, values, eqn.params["dimension"])


def _stack(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    axis = eqn.params["axis"]
    expanded = [_arranged(value, lambda array: np.expand_dims(array, axis)) for value in values]
    return _joined(translator, eqn, expanded, axis)


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
    translator.store(array, np.broadcast_to(translator.elements(padding), aval.shape))
    part = replace(array, index=array.index[np.ix_(*target)])
    if part.index.size:
        translator.store(part, _arranged(value, lambda elements: elements[np.ix_(*kept)]))
    return [array]


def _iota(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    shape, dimension, dtype = eqn.params["shape"], eqn.params["dimension"], eqn.outvars[0].aval.dtype
    numbers = np.arange(shape[dimension]).reshape([-1 if axis == dimension else 1 for axis in range(len(shape))])
    return [elements_of(np.broadcast_to(numbers, shape).astype(dtype), dtype.name)]


class Lookup:
    """Where elements of an operand lie, for indices (…, components) that are computed.

    A round of a loop is an element that is read or written. places: for each component of the index, where among the
    indices it stands for each element. offset: what each element adds to the position. limits and strides of the
    operand: for each component.
    """

    def __init__(
        self, indices: Memory, places: Sequence[Index], offset: Index, limits: Sequence[int], strides: Sequence[int]
    ) -> None:
        self.components = list(zip(places, limits, strides, strict=True))
        self.indices, self.offset = indices, offset

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
    indices: Memory,
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
    places = [first + component for component in range(len(indexed))]
    limits = [shape[axis] - sizes[axis] for axis in indexed]
    return Lookup(indices, places, offset, limits, [int(strides[axis]) for axis in indexed])


def _gather(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    numbers, aval, sizes = eqn.params["dimension_numbers"], eqn.outvars[0].aval, eqn.params["slice_sizes"]
    operand, indices = (translator.memory(v, atom.aval.dtype.name) for v, atom in zip(values, eqn.invars, strict=True))
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
    return [_read(translator, operand, lookup, aval, fill)]


def _fill_value(dtype: Any) -> float:
    if dtype.name == "float32":
        return np.nan
    return 1 if dtype.name == "bool" else np.iinfo(dtype).max if dtype.kind == "u" else np.iinfo(dtype).min


def _read(translator: Translator, operand: Memory, lookup: Lookup, aval: Any, fill: str | None = None) -> Memory:
    array = translator.array(aval.dtype.name, aval.shape)
    with translator.loop(aval.size, lookup.indices) as loop:
        position, inside = lookup.position(translator)
        found = operand.element(position) if fill is None else f"{inside} ? {operand.element(position)} : {fill}"
        loop.known[array.name] = translator.new(ctype(aval.dtype), found)
        translator.add(f"{array.name}[i] = {loop.known[array.name]};")
    return array


def _scatter(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    numbers, mode = eqn.params["dimension_numbers"], eqn.params["mode"]
    dtype, updates_shape = eqn.outvars[0].aval.dtype.name, eqn.invars[2].aval.shape
    combined = eqn.primitive.name.removeprefix("scatter").lstrip("-_")
    if dtype == "float32" and combined:
        raise Untranslatable(f"{eqn.primitive.name} of float32")
    target = translator.copy(values[0], dtype)
    indices, updates = translator.memory(values[1], eqn.invars[1].aval.dtype.name), translator.memory(values[2], dtype)
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


def _dynamic(translator: Translator, eqn: Equation, window: Sequence[int], starts: Sequence[Value]) -> Lookup:
    """The lookup of one window, whose start is computed."""
    texts = np.concatenate([translator.elements(start).reshape(1) for start in starts])
    indices, shape = translator.memory(texts, eqn.invars[-1].aval.dtype.name), eqn.invars[0].aval.shape
    axes = range(len(shape))
    nothing: tuple[Sequence[int], Sequence[int]] = ((), ())
    return _window_lookup(indices, shape, window, sizes=window, window=axes, indexed=axes, batching=nothing, dropped=())


def _dynamic_slice(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    aval = eqn.outvars[0].aval
    operand = translator.memory(values[0], aval.dtype.name)
    return [_read(translator, operand, _dynamic(translator, eqn, aval.shape, values[1:]), aval)]


def _dynamic_update_slice(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    dtype = eqn.outvars[0].aval.dtype.name
    target, update = translator.copy(values[0], dtype), translator.memory(values[1], dtype)
    lookup = _dynamic(translator, eqn, update.shape, values[2:])
    translator.finish_loop()
    with translator.loop(update.index.size):
        translator.add(f"{target.element(lookup.position(translator)[0])} = {update.element('i')};")
    translator.finish_loop()
    return [target]


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ARRANGED, _arrange),
    **dict.fromkeys(("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max"), _scatter),
    "split": _split,
    "concatenate": _concatenate,
    "stack": _stack,
    "pad": _pad,
    "iota": _iota,
    "gather": _gather,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
}
