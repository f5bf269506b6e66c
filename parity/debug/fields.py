"""Fields of a game by their names: of the state, the observation, the mask and what a step gave."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from parity.compare import ABSENT, OBSERVATION, STATE, Fields
from parity.engine import State
from parity.errors import UsageError, unknown
from parity.world import World

Keys = tuple[str | int, ...]
"""A family of fields, and keys and indices in its value."""

FAMILIES = STATE, OBSERVATION, "mask", "components", "reward", "terminated", "truncated", "facts", "events"


class FieldReader:
    """Finds fields of one world's games by their names."""

    def __init__(self, world: World) -> None:
        label = world.observation_label
        labels = () if label is None else tuple(map(label, np.ndindex(*world.observation_shape)))
        self._names: dict[str, tuple[str, ...]] = {
            OBSERVATION: labels if len(set(labels)) == len(labels) else (),
            **{name: getattr(world, name) for name in ("components", "facts", "events")},
            "mask": world.actions,
        }

    def family(self, fields: Fields, family: str) -> Any:  # noqa: ANN401 - a JSON value
        """A family of one engine's fields, by names where these have some; ABSENT stands for what there is not."""
        names = self._names.get(family, ())
        if family not in fields:
            return dict.fromkeys(names, ABSENT) or ABSENT
        row = fields[family][0]
        if isinstance(row, dict):
            return row
        if row.dtype.names:
            return {name: row[name].tolist() for name in row.dtype.names}
        return dict(zip(names, row.ravel().tolist(), strict=True)) if names else row.tolist()

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

        A name without its family is looked for in the state, where the one that is nested least counts. Indices may
        lie behind the end of a list. Raises UsageError where there is no such field, or several.
        """
        keys = keys_of(name)
        if keys[:1] and keys[0] in FAMILIES:
            self._check(self.family(fields, str(keys[0])), keys[1:], name)
            return keys
        state = self.family(fields, STATE)
        known = _paths(state)
        paths = [path for path in known if path[-1:] == keys[:1]]
        nearest = [path for path in paths if len(path) == min(map(len, paths))]
        if len(nearest) != 1:
            listed = " or ".join(path_text((STATE, *path)) for path in nearest)
            said = f"it may be {listed}" if listed else f"there is no {unknown(name, {path[-1] for path in known})}"
            raise UsageError(f"'{name}' is no field of the state, {said}: give one of its fields.")
        self._check(state, (*nearest[0], *keys[1:]), name)
        return STATE, *nearest[0], *keys[1:]

    def _check(self, value: Any, keys: Keys, name: str) -> None:  # noqa: ANN401 - a JSON value
        for key in keys:
            if isinstance(value, list) and isinstance(key, int):
                if key >= len(value):
                    return
            elif not isinstance(value, dict) or key not in value:
                known = value if isinstance(value, dict) else ()
                raise UsageError(f"'{name}' is no field: there is no {unknown(str(key), known)} in it.")
            value = value[key]


def keys_of(field: str) -> Keys:
    """The keys in a field's name, also as differences have it: ``state.apples[0].cell``, ``observation[3: hp]``."""
    keys: list[str | int] = []
    for plain, indices, label in re.findall(r"([^.\[\]]+)|\[([\d, ]+)\]|\[(?:[\d, ]+: )?(.+?)\]", field):
        keys += [*map(int, re.findall(r"\d+", indices))] if indices else [plain or label]
    return tuple(keys)


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
    given = float(value) if type(before) is float and type(value) is int else value
    if before is not None and type(given) is not type(before):
        kinds = type(before).__name__, type(value).__name__
        raise UsageError(f"{last} takes a value of type {kinds[0]}, not {kinds[1]}: give one.")
    place[last] = given


def _paths(state: Any) -> list[tuple[str, ...]]:  # noqa: ANN401 - a JSON value
    """The paths of all keys of dicts within dicts."""
    if not isinstance(state, dict):
        return []
    return [(key, *rest) for key, value in state.items() for rest in [(), *_paths(value)]]
