"""Parsers of field names and of stop conditions; the text is never executed as code."""

import json
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from rlparity.core.compare import ABSENT, OBSERVATION, STATE, Fields, Keys, element_names, keys_of, part_of
from rlparity.core.trace import RESTART, Action
from rlparity.debug.timeline import Moment
from rlparity.engine import State
from rlparity.errors import UsageError, quoted, unknown
from rlparity.spaces import is_number
from rlparity.world import World

FAMILIES = STATE, OBSERVATION, "mask", "components", "reward", "terminated", "truncated", "facts", "events"


class FieldReader:
    """Lookup of fields of a world's games by name."""

    def __init__(self, world: World) -> None:
        label = world.observation_label
        labels = () if label is None else tuple(map(label, np.ndindex(*world.observation_shape)))
        self._names = {**element_names(world), OBSERVATION: labels if len(set(labels)) == len(labels) else ()}

    def family(self, fields: Fields, family: str) -> Any:  # noqa: ANN401 - a JSON value
        """Return a family of one engine's fields as JSON, by element names if it has any; ABSENT if it is missing."""
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
        """Return the value at a path of keys; ABSENT where there is none."""
        return part_of(self.family(fields, str(keys[0])), keys[1:])

    def find(self, fields: Fields, name: str) -> Keys:
        """Resolve a field name, such as ``state.player.hp``, ``components.kills``, ``mask[up]`` or ``hp``, to its keys.

        A name without a family means the least nested field of that name in the state. Indices may lie past the end of
        a list. Raises UsageError where there is no such field, or several.
        """
        keys = keys_of(name)
        if keys[0] not in FAMILIES:
            known = _paths(self.family(fields, STATE))
            paths = [path for path in known if path[-1] == keys[0]]
            nearest = [path for path in paths if len(path) == min(map(len, paths))]
            if len(nearest) != 1:
                listed = " or ".join(path_text((STATE, *path)) for path in nearest)
                said = f"it may be {listed}" if listed else f"there is no {unknown(name, {path[-1] for path in known})}"
                raise UsageError(f"{quoted(name)} is no field of the state, {said}: give one of its fields.")
            keys = (STATE, *nearest[0], *keys[1:])
        value = self.family(fields, str(keys[0]))
        for key in keys[1:]:
            if isinstance(value, list) and isinstance(key, int):
                if key >= len(value):
                    break
            elif not isinstance(value, dict) or key not in value:
                among = value if isinstance(value, dict) else ()
                raise UsageError(f"{quoted(name)} is no field: there is no {unknown(str(key), among)} in it.")
            value = value[key]
        return keys


def value_of(text: str) -> Any:  # noqa: ANN401 - a JSON value
    """Parse a JSON value; other text is returned as it is."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def path_text(keys: Keys) -> str:
    """Join keys with dots."""
    return ".".join(map(str, keys))


def put_in(state: State, keys: Keys, value: object) -> None:
    """Set a field of a state in place; raises UsageError for an index past the end or a value of another type."""
    *path, last = keys
    place: Any = state
    try:
        for key in path:
            place = place[key]
        before = place[last]
    except IndexError:
        raise UsageError(f"state.{path_text(keys)} is past the end of a list: give an index in it.") from None
    given = float(value) if type(before) is float and type(value) is int else value
    if before is not None and type(given) is not type(before):
        kinds = type(before).__name__, type(value).__name__
        raise UsageError(f"state.{path_text(keys)} takes a value of type {kinds[0]}, not {kinds[1]}: give one.")
    place[last] = given


def _paths(state: Any) -> list[tuple[str, ...]]:  # noqa: ANN401 - a JSON value
    """List the paths of all keys in nested dicts."""
    if not isinstance(state, dict):
        return []
    return [(key, *rest) for key, value in state.items() for rest in [(), *_paths(value)]]


_ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {**_ORDERS, "==": operator.eq, "!=": operator.ne}
_COMPARISON = re.compile(r"(.+?)\s*(<=|>=|==|!=|<|>)\s*(.+)")


Condition = Callable[[Moment], bool]
"""Predicate of whether a condition holds at a moment, on either engine."""


def parse_condition(text: str, world: World, reader: FieldReader, now: Moment) -> Condition:
    """Parse a condition, in the forms listed in ``Session.run_until``; field names are looked up in moment ``now``.

    Raises UsageError for any other text.
    """
    stripped = text.strip()
    marks = {mark for mark, rule in world.marks.items() if stripped in (mark, rule)}
    if marks:
        if now.marks is None:
            raise UsageError(f"'{stripped}' is a mark, but an engine does not count marks: choose engines that do.")
        return lambda moment: any(marks & fired.keys() for fired in moment.marks or ())
    word, _, rest = stripped.partition(" ")
    if word == "differs":
        return _differs(rest.strip(), reader, now)
    if word == "action":
        action = action_of(world, rest.strip().removeprefix("==").strip())
        return lambda moment: moment.action == action
    if word == "draw":
        return _draws(rest.split())
    if found := _COMPARISON.fullmatch(stripped):
        return _compares(found[1], found[2], found[3], reader, now)
    known = {*world.marks, *world.marks.values(), "differs"}
    raise UsageError(
        f"no condition is {unknown(stripped, known)}: give a mark, a rule, FIELD < VALUE, action NAME, differs FIELD "
        "or draw ADDRESS."
    )


def action_of(world: World, action: Action | str) -> Action:
    """Resolve an action by name or number; raises UsageError where the world has no such action."""
    if action == RESTART or (world.action_space is not None and world.action_space.contains(action)):
        return action  # type: ignore[return-value]
    known, text = list(world.actions), str(action)
    names = known if text in known else [*map(str, range(len(known)))]
    if text not in names:
        listed = ", ".join(known) or "arrays of numbers"
        raise UsageError(f"world '{world.name}' has no action {unknown(text, known)}: its actions are {listed}.")
    return names.index(text)


def _differs(field: str, reader: FieldReader, now: Moment) -> Condition:
    keys = (field,) if field in (*FAMILIES, "marks") else reader.find(now.sides[0], field) if field else ()

    def holds(moment: Moment) -> bool:
        # the difference may be inside the field, or the field inside the difference
        found = (keys_of(difference.field) for difference in moment.differences)
        return any(each[: len(keys)] == keys[: len(each)] for each in found)

    return holds


def _draws(part: list[str]) -> Condition:
    """Condition that a word was drawn at an address that contains ``part``: ``ORDER``, ``ORDER 7`` or ``3 ORDER 7``."""

    def holds(moment: Moment) -> bool:
        if moment.action in (None, RESTART):
            return False
        sides = moment.phases.sides
        told = [phase.draws for side in sides for phase in side or ()]
        if sides == (None, None) or (told and not any(draws is not None for draws in told)):
            raise UsageError("neither engine reports the random words that it draws: choose one that does.")
        drawn = [draw.text.split() for draws in told for draw in draws or ()]
        return any(address[at : at + len(part)] == part for address in drawn for at in range(len(address)))

    return holds


def _compares(field: str, sign: str, literal: str, reader: FieldReader, now: Moment) -> Condition:
    keys = reader.find(now.sides[0], field)
    value = value_of(literal)
    current = reader.value(now.sides[0], keys)
    if sign in _ORDERS and not (is_number(value) and (current == ABSENT or is_number(current))):
        raise UsageError(f"{quoted(field)} {sign} {quoted(literal)} compares no numbers: give == or !=, or a number.")

    def holds(moment: Moment) -> bool:
        for seen in (reader.value(side, keys) for side in moment.sides):
            if seen == ABSENT or (sign in _ORDERS and not is_number(seen)):
                continue
            if _SIGNS[sign](seen, value):
                return True
        return False

    return holds
