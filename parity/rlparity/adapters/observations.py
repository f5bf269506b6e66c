"""Conversion of other libraries' observations to arrays, and of their infos and spaces to JSON values.

Nested observations become flat structured arrays.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from rlparity.engine import Array
from rlparity.errors import EngineError

TEXT = 256
"""Longest text in an observation, in characters."""
Shape = tuple[int, ...] | Mapping[str, tuple[int, ...]]
"""Shape of an observation, or shapes by leaf of a nested one."""
_NAMES = {"minimum": "low", "maximum": "high", "num_values": "n"}
"""Attribute of a dm_env or Jumanji spec -> the same attribute of a Gymnasium or Gymnax space."""
_SPACE = ("low", "high", "n", "start", "nvec", "min_length", "max_length", "characters")


def as_array(observation: Any, axes: int = 0) -> Array:
    """Convert an observation to an array; a dict, tuple or dataclass to a structured array with a field for each leaf.

    Fields of nested observations are named by their path, such as ``inventory.keys``. axes: the number of leading axes
    that all leaves share, 1 for a batch. An array is returned as it is, not copied.
    """
    leaves = dict(_leaves(observation))
    if "" in leaves:
        return leaves[""]
    form = [(name, leaf.dtype, leaf.shape[axes:]) for name, leaf in leaves.items()]
    array = np.zeros(next(iter(leaves.values())).shape[:axes] if leaves else (), form)
    for name, leaf in leaves.items():
        array[name] = leaf
    return array


def shape_of(observation: Any) -> Shape:
    """Shape of an observation, or of each leaf of a nested one."""
    array = as_array(observation)
    fields: Mapping[str, Any] = array.dtype.fields or {}
    return {part: field[0].shape for part, field in sorted(fields.items())} if fields else array.shape


def leaves_in(observation: object) -> list[Array]:
    """List the arrays in an observation, not copied."""
    return [leaf for _, leaf in _leaves(observation)]


def with_float32(array: Array) -> Array:
    """Round an observation from float64 to float32."""

    def narrowed(kind: Any) -> Any:
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


def _parts(value: Any) -> Iterable[tuple[Any, Any]] | None:
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
            raise EngineError(f"an observation holds a text of more than {TEXT} characters, the most that are compared")
        leaf = leaf.astype(f"U{TEXT}")  # the same dtype for texts of any length
    if leaf.dtype.names is None and leaf.dtype.kind not in "biufU":
        raise EngineError(
            f"an observation holds a {type(value).__name__}, where arrays, numbers and texts are compared"
        )
    return leaf


def json_of(value: Any, *, named: bool = True) -> Any:
    """Convert a value to JSON values: arrays and sets to lists; with ``named``, other objects to their type's name."""
    if isinstance(value, Mapping):
        return {str(name): json_of(part, named=named) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [json_of(part, named=named) for part in value]
    if isinstance(value, (set, frozenset)):
        return json_of(sorted(value, key=repr), named=named)
    if isinstance(value, np.ndarray) or (hasattr(value, "__array__") and np.asarray(value).dtype != object):
        return json_of(np.asarray(value).tolist(), named=named)
    is_json = value is None or isinstance(value, (str, int, float, bool)) or not named
    return value if is_json else f"a {type(value).__name__}"


def declared(library: str, observations: Any, actions: Any, rewards: Any = None) -> dict[str, Any]:
    """Collect the spaces or specs of a library and, if any, the reward range (lowest, highest) as JSON values."""
    spaces = {"observation_space": space_values(observations), "action_space": space_values(actions)}
    return {"library": library, **spaces, **({} if rewards is None else {"reward_range": json_of(rewards)})}


def space_values(space: Any) -> Any:
    """Convert a space to JSON values: its dtype, shape and bounds; equal bounds become one number."""
    parts = getattr(space, "spaces", getattr(space, "_specs", space))
    if isinstance(parts, Mapping):
        return {str(name): space_values(part) for name, part in parts.items()}
    if isinstance(parts, (tuple, list)):
        return [*map(space_values, parts)]
    values: dict[str, Any] = {"dtype": str(np.dtype(space.dtype)), "shape": json_of(space.shape)}
    for name in (name for name in (*_SPACE, *_NAMES) if getattr(space, name, None) is not None):
        value, common = np.asarray(getattr(space, name)), _NAMES.get(name, name)
        if common in ("low", "high"):
            value = np.ravel(value)[0] if np.unique(value).size == 1 else np.broadcast_to(value, space.shape)
        values[common] = json_of(value)
    if "n" in values:  # the bounds of a spec follow from n; only Gymnasium's Discrete may have another start
        return {"start": 0} | {name: value for name, value in values.items() if name not in ("low", "high")}
    return values


def range_of(spec: Any) -> tuple[float, float] | None:
    """Lowest and highest number of a spec with bounds, else None."""
    return (float(np.min(spec.minimum)), float(np.max(spec.maximum))) if hasattr(spec, "minimum") else None
