"""Observations of other people's environments as arrays: nested dicts become structured arrays, flattened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from rlparity.engine import Array
from rlparity.errors import EngineError

TEXT = 256
"""Signs that a text in an observation may have."""
Shape = tuple[int, ...] | Mapping[str, tuple[int, ...]]
"""The shape of an observation, or the shapes of the parts of one that is a dict."""


def as_array(observation: Any, axes: int = 0) -> Array:  # noqa: ANN401 - whatever an environment shows
    """An observation as an array; a dict, tuple or dataclass as a structured array with a field for each leaf.

    Fields of nested ones are called by their path, such as ``inventory.keys``. axes: how many leading axes all leaves
    have in common, 1 for a batch. An array is given back as it is, not copied.
    """
    leaves = dict(_leaves(observation))
    if "" in leaves:
        return leaves[""]
    form = [(name, leaf.dtype, leaf.shape[axes:]) for name, leaf in leaves.items()]
    array = np.zeros(next(iter(leaves.values())).shape[:axes] if leaves else (), form)
    for name, leaf in leaves.items():
        array[name] = leaf
    return array


def leaves_in(observation: object) -> list[Array]:
    """The arrays in an observation, themselves and not copies of them."""
    return [leaf for _, leaf in _leaves(observation)]


def with_float32(array: Array) -> Array:
    """An observation rounded from float64 to float32."""

    def narrowed(kind: Any) -> Any:  # noqa: ANN401 - a dtype
        if kind.names:
            return np.dtype([(name, narrowed(kind[name])) for name in kind.names])
        return np.dtype((np.float32, kind.shape)) if kind.base == np.float64 else kind

    return array.astype(narrowed(array.dtype))


def _leaves(value: object, name: str = "") -> Iterator[tuple[str, Array]]:
    parts = _parts(value)
    if parts is None:
        yield name, _leaf(value)
        return
    for key, part in parts:
        yield from _leaves(part, f"{name}.{key}" if name else str(key))


def _parts(value: Any) -> Iterable[tuple[Any, Any]] | None:  # noqa: ANN401 - whatever an environment shows
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, tuple):
        named: Any = getattr(value, "_asdict", None)
        return enumerate(value) if named is None else named().items()
    if is_dataclass(value):
        return ((field.name, getattr(value, field.name)) for field in fields(value))
    return None


def _leaf(value: object) -> Array:
    leaf = np.asarray(value)
    if leaf.dtype.kind == "U":
        if leaf.itemsize > 4 * TEXT:
            raise EngineError(f"an observation holds a text of more than {TEXT} signs, the most that are compared")
        leaf = leaf.astype(f"U{TEXT}")  # one type, however long the text is
    if leaf.dtype.names is None and leaf.dtype.kind not in "biufU":
        raise EngineError(
            f"an observation holds a {type(value).__name__}, where arrays, numbers and texts are compared"
        )
    return leaf
