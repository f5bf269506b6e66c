"""Exact comparison: a fast pass finds the games that differ, a slow one lists where a game differs."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from rlparity.engine import Array, State
from rlparity.errors import printable
from rlparity.spaces import is_number
from rlparity.tolerance import Tolerance
from rlparity.world import Board, World

Fields = Mapping[str, Array | list[State]]
"""Name -> one row for each game: an array with a leading axis, or a list of states."""

Keys = tuple[str | int, ...]
"""Path of keys and indices to a part of a value; the path of a field begins with its family."""
ABSENT = "absent"
STATE = "state"
OBSERVATION = "observation"
INFO = "info"


@dataclass(frozen=True)
class Difference:
    """One place in which two engines differ; values are JSON values, ``expected`` the reference's."""

    field: str
    expected: Any
    observed: Any

    def __post_init__(self) -> None:
        """Make the field's name printable in one line, whatever keys an engine's states have."""
        object.__setattr__(self, "field", printable(self.field))

    @property
    def family(self) -> str:
        """The compared field that this place belongs to: the name before any index or key."""
        return self.field.split("[")[0].split(".")[0]


def rows_that_differ(world: World, expected: Fields, observed: Fields) -> NDArray[np.bool_]:
    """(rows,) bool: the games in which any field differs. Fields that only one side has differ everywhere."""
    differ = np.zeros(len(next(iter(expected.values()))), dtype=np.bool_)
    for name, one, other in _compared(world, expected, observed):
        if one is None or other is None:
            differ[:] = True
        elif isinstance(one, list) or isinstance(other, list):
            pairs = zip(one, other, strict=True)
            differ |= np.array([not _same_state(world, *both, name) for both in pairs], dtype=np.bool_)
        else:
            differ |= elements_that_differ(one, other, world.tolerance_of(name)).reshape(len(differ), -1).any(axis=1)
    return differ


def _compared(world: World, expected: Fields, observed: Fields) -> Iterator[tuple[str, Any, Any]]:
    """Yield each compared field and its value on both sides, None if absent; dict observations field by field."""
    for name in dict.fromkeys([*expected, *observed]):
        one: Any = expected.get(name)
        other: Any = observed.get(name)
        if (tolerance := world.tolerance_of(name)) is not None and tolerance.ignored:
            continue
        if world.observation_fields and name == OBSERVATION and one is not None and other is not None:
            parts = ({f"{name}.{part}": side[part] for part in world.observation_fields} for side in (one, other))
            yield from _compared(world, *parts)
        else:
            yield name, one, other


def elements_that_differ(expected: Array, observed: Array, tolerance: Tolerance | None) -> NDArray[np.bool_]:
    """Mask (rows, …) of the elements of an array field that differ: all of them where shapes or float types differ."""
    if not _same_form(expected, observed, tolerance):
        return np.ones(expected.shape if expected.size else (len(expected), 1), dtype=np.bool_)
    differ = _bits_differ(expected, observed)
    if tolerance is None:
        return differ
    types = [side.dtype for side in (expected, observed) if np.issubdtype(side.dtype, np.floating)]
    narrowest = min(types, key=lambda kind: kind.itemsize, default=None)
    return differ & ~_are_near(expected, observed, tolerance, narrowest)


def _same_state(world: World, expected: object, observed: object, path: str) -> bool:
    """Compare two states as JSON texts, which unlike ``==`` tell 1 from True and 1.0; then within tolerances."""
    one, other = (json.dumps(state, sort_keys=True) for state in (expected, observed))
    return one == other or next(state_differences(world, expected, observed, path), None) is None


def _same_form(expected: Array, observed: Array, tolerance: Tolerance | None) -> bool:
    """Tell whether shapes match, and types where one is a float; integers of any width and flags compare by value."""
    if tolerance is not None and tolerance.any_dtype:
        return expected.shape == observed.shape
    floating = np.issubdtype(expected.dtype, np.floating) or np.issubdtype(observed.dtype, np.floating)
    return expected.shape == observed.shape and (not floating or expected.dtype == observed.dtype)


def _bits_differ(expected: Array, observed: Array) -> NDArray[np.bool_]:
    if expected.dtype == observed.dtype and np.issubdtype(expected.dtype, np.floating):
        bits = np.dtype(f"u{expected.dtype.itemsize}")
        expected, observed = (np.ascontiguousarray(side).view(bits) for side in (expected, observed))
    return np.asarray(expected != observed, dtype=np.bool_)


def _are_near(
    expected: ArrayLike, observed: ArrayLike, tolerance: Tolerance, kind: DTypeLike | None
) -> NDArray[np.bool_]:
    """Mask of the elements within a tolerance. kind: the float type whose ULPs count; None: ULPs do not count."""
    expected, observed = np.asarray(expected), np.asarray(observed)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.maximum(np.abs(expected), np.abs(observed)).astype(np.float64)
        most = np.maximum(tolerance.absolute, tolerance.relative * size)
        if tolerance.ulps and kind is not None:
            most = np.maximum(most, tolerance.ulps * np.spacing(size.astype(kind)).astype(np.float64))
        distance = np.abs(expected.astype(np.float64) - observed.astype(np.float64))
        is_nan = np.isnan(expected.astype(np.float64)) & np.isnan(observed.astype(np.float64))
        is_near = (distance <= most) & np.isfinite(distance)  # infinity is near only itself
        return np.asarray((expected == observed) | is_near | is_nan, dtype=np.bool_)


def explain(world: World, expected: Fields, observed: Fields, row: int) -> list[Difference]:
    """Every place in which game ``row`` differs, in the order of the fields; empty when it does not."""
    found: list[Difference] = []
    for name, one, other in _compared(world, expected, observed):
        tolerance = world.tolerance_of(name)
        if one is None or other is None:
            found.append(Difference(name, *(ABSENT if side is None else "present" for side in (one, other))))
        elif isinstance(one, list) or isinstance(other, list):
            found += state_differences(world, one[row], other[row], name)
        elif not _same_form(one, other, tolerance):
            found.append(Difference(name, f"{one.dtype} {one.shape[1:]}", f"{other.dtype} {other.shape[1:]}"))
        else:
            differ = elements_that_differ(one[row : row + 1], other[row : row + 1], tolerance)[0]
            for place in map(tuple, np.argwhere(differ).tolist()):
                values = one[(row, *place)].item(), other[(row, *place)].item()
                found.append(Difference(_label(world, name, place), *values))
    return found


def _label(world: World, name: str, place: tuple[int, ...]) -> str:
    if not place:
        return name
    index = ", ".join(map(str, place))
    if name == OBSERVATION and world.observation_label is not None:
        return f"{name}[{index}: {world.observation_label(place)}]"
    names = element_names(world)
    return f"{name}[{names[name][place[0]]}]" if name in names else f"{name}[{index}]"


def element_names(world: World) -> dict[str, tuple[str, ...]]:
    """Names of elements, by the fields whose elements are named."""
    names = {name: getattr(world, name) for name in ("components", "facts", "events")}
    return {**names, "mask": world.actions, "marks": tuple(world.marks)}


def state_differences(world: World, expected: object, observed: object, path: str = STATE) -> Iterator[Difference]:
    """Yield the differences of two states, at paths such as ``state.player.hp`` or ``state.enemies[0].row``.

    A number has the tolerance of its path without indices, such as ``state.enemies.row``, or else that of ``state``.
    ULPs are those of float32.
    """
    place = re.sub(r"\[\d+\]", "", path) if world.tolerances else path
    if (tolerance := world.tolerance_of(place)) is not None and tolerance.ignored:
        return
    if isinstance(expected, dict) and isinstance(observed, dict):
        for key in dict.fromkeys([*expected, *observed]):
            yield from state_differences(world, expected.get(key, ABSENT), observed.get(key, ABSENT), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(observed, list):
        for index in range(max(len(expected), len(observed))):
            one, other = (side[index] if index < len(side) else ABSENT for side in (expected, observed))
            yield from state_differences(world, one, other, f"{path}[{index}]")
    elif json.dumps(expected) != json.dumps(observed):
        tolerance = tolerance or world.tolerance_of(path.split(".")[0])
        if tolerance is None or not _are_near_numbers(expected, observed, tolerance):
            yield Difference(path, expected, observed)


def _are_near_numbers(expected: object, observed: object, tolerance: Tolerance) -> bool:
    values = expected, observed
    if not (all(map(is_number, values)) and any(isinstance(each, float) for each in values)):
        return False
    one, other = np.float64(expected), np.float64(observed)  # type: ignore[arg-type]
    return bool(_are_near(one, other, tolerance, np.float32))


@lru_cache
def keys_of(field: str) -> Keys:
    """Split a field's name, such as ``state.apples[0].cell`` or ``observation[3: hp]``, into its keys."""
    keys: list[str | int] = []
    for plain, indices, label in re.findall(r"([^.\[\]]+)|\[([\d, ]{1,99})\]|\[(?:[\d, ]+: )?(.+?)\]", field):
        keys += [*map(int, re.findall(r"\d+", indices))] if indices else [plain or label]
    return tuple(keys) or ("",)


def part_of(value: Any, keys: Keys) -> Any:  # noqa: ANN401 - a JSON value
    """Look up a part of a value by its keys; ABSENT where there is none."""
    for key in keys:
        try:
            value = value[key]
        except (LookupError, TypeError):
            return ABSENT
    return value


def value_text(value: object) -> str:
    """Format a value for reports; integers keep all their digits."""
    return printable(value) if isinstance(value, str) else json.dumps(value)


def differing_cells(boards: Sequence[Board]) -> set[tuple[int, int]]:
    """(row, column) of the cells whose texts differ between two boards, row 0 on top."""
    one, other = (
        {(row, column): text for row, texts in enumerate(board.rows) for column, text in enumerate(texts)}
        for board in boards
    )
    return {place for place in one.keys() | other.keys() if one.get(place) != other.get(place)}


def differing_scalars(boards: Sequence[Board]) -> set[str]:
    """Names of the scalars whose values differ between two boards."""
    one, other = (board.scalars for board in boards)
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}
