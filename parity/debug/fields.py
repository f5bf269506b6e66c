"""Fields of a game by their names: of the state, the observation, the mask and what a step gave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from parity.compare import ABSENT, OBSERVATION, STATE, Fields
from parity.engine import State
from parity.errors import UsageError, unknown
from parity.world import World

Keys = tuple[str | int, ...]
"""A family of fields, and keys and indices in its value."""

_SINGLE = ("reward", "terminated", "truncated")


class FieldReader:
    """Finds fields of one world's games by their names."""

    def __init__(self, world: World) -> None:
        self._names: dict[str, tuple[str, ...]] = {
            OBSERVATION: _observation_labels(world),
            "mask": world.actions,
            "components": world.components,
            "facts": world.facts,
            "events": world.events,
        }

    def family(self, fields: Fields, family: str) -> Any:  # noqa: ANN401 - whatever is in it
        """A family of one engine's fields, by names where these have some; ABSENT where there is none."""
        if family not in fields:
            return ABSENT
        row = fields[family][0]
        if isinstance(row, dict):
            return row
        if family not in self._names:
            return np.asarray(row).tolist()
        values = [each for part in row for each in np.ravel(part)] if row.dtype.fields else np.ravel(row)
        return {
            name: value.item() if hasattr(value, "item") else value
            for name, value in zip(self._names[family], values, strict=True)
        }

    def value(self, fields: Fields, keys: Keys) -> Any:  # noqa: ANN401 - a JSON value
        """What stands under some keys; ABSENT where nothing does."""
        value = self.family(fields, str(keys[0]))
        for key in keys[1:]:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return ABSENT
        return value

    def find(self, fields: Fields, name: str) -> Keys:
        """The keys of a field, such as ``state.player.hp``, ``components.kills``, ``mask[up]`` or just ``hp``.

        A name without its family is looked for in the state, where the one that is nested least counts. Raises
        UsageError where there is none, or several.
        """
        head, rest = _split(name)
        if head in _SINGLE and not rest:
            return (head,)
        if head in self._names:
            return head, self._name_in(head, rest)
        state = self.family(fields, STATE)
        first, *others = _tokens(rest if head == STATE and rest else name) or (name,)
        paths = [(first,)] if head == STATE and rest else [path for path in _paths(state) if path[-1] == first]
        nearest = [path for path in paths if len(path) == min(map(len, paths))]
        if len(nearest) > 1:
            listed = ", ".join(path_text((STATE, *path)) for path in nearest)
            raise UsageError(f"'{name}' may be any of {listed}: give one of these.")
        return STATE, *_walk(state, (*(nearest[0] if nearest else (first,)), *others), name)

    def _name_in(self, family: str, name: str) -> str:
        names = self._names[family]
        label = name.partition(": ")[2] or name  # as in the differences of an observation
        for each in (name, label):
            if each in names:
                return each
        if name.isdecimal() and int(name) < len(names):
            return names[int(name)]
        example = names[0] if names else "NAME"
        raise UsageError(
            f"{family} has no {unknown(name, names)}: give a name or an index, such as {family}[{example}]."
        )


def with_dots(field: str) -> str:
    """A field's name with dots instead of brackets, such as ``state.apples.0.cell``."""
    return re.sub(r"\[(.*?)\]", r".\1", field)


def path_text(keys: Keys) -> str:
    """Keys as one name with dots."""
    return ".".join(map(str, keys))


def put_in(state: State, keys: Keys, value: object) -> None:
    """Change a field of a state; raises UsageError where it has none, or one of another type."""
    *path, last = keys
    place: Any = state
    try:
        for key in path:
            place = place[key]
        before = place[last]
    except IndexError:
        raise UsageError(f"state.{path_text(keys)} lies behind the end of a list: choose a place in it.") from None
    if before is not None and type(value) is not type(before) and not (type(before) is float and type(value) is int):
        kinds = type(value).__name__, type(before).__name__
        raise UsageError(f"{last} takes a value of type {kinds[1]}, not {kinds[0]}: give one.")
    place[last] = float(value) if type(before) is float and type(value) is int else value


def _split(name: str) -> tuple[str, str]:
    found = re.fullmatch(r"(\w+)(?:\.(.+)|\[(.+)\])", name)
    return (found[1], found[2] or found[3]) if found else (name, "")


def _tokens(path: str) -> Keys:
    return tuple(int(part[1:-1]) if part[0] == "[" else part for part in re.findall(r"\[\d+\]|[^.\[\]]+", path))


def _walk(state: Any, keys: Keys, name: str) -> Keys:  # noqa: ANN401 - a JSON value
    """The keys, if they lead somewhere; a list may be too short now. Raises UsageError."""
    value = state
    for key in keys:
        if isinstance(value, list) and isinstance(key, int):
            if key >= len(value):
                break
        elif not isinstance(value, dict) or key not in value:
            known = value if isinstance(value, dict) else {path[-1] for path in _paths(state)}
            raise UsageError(f"'{name}' is no field: there is no {unknown(str(key), known)} in the state.")
        value = value[key]
    return keys


def _paths(state: Any) -> list[tuple[str, ...]]:  # noqa: ANN401 - a part of a state
    """The paths of all keys of dicts within dicts."""
    if not isinstance(state, Mapping):
        return []
    return [(key, *rest) for key, value in state.items() for rest in [(), *_paths(value)]]


def _observation_labels(world: World) -> tuple[str, ...]:
    if world.observation_fields:
        return tuple(
            name + (f"[{_index(place)}]" if place else "")
            for name, shape in world.observation_fields.items()
            for place in np.ndindex(*shape)
        )
    places = [*np.ndindex(*world.observation_shape)]
    if world.observation_label is None:
        return tuple(map(_index, places))
    labels = [world.observation_label(place) for place in places]
    counts = Counter(labels)
    pairs = zip(places, labels, strict=True)
    return tuple(label if counts[label] == 1 else f"{_index(place)}: {label}" for place, label in pairs)


def _index(place: tuple[int, ...]) -> str:
    return ", ".join(map(str, place))
