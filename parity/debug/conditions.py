"""Conditions at which a run stops, read from text: parsed, never executed."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable
from typing import Any

from parity.compare import ABSENT
from parity.debug.fields import FAMILIES, FieldReader, keys_of
from parity.debug.timeline import Moment
from parity.errors import UsageError, unknown
from parity.safe_read import is_number, quoted
from parity.trace import RESTART, Action
from parity.world import World

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SIGNS = {**_ORDERS, "==": operator.eq, "!=": operator.ne}
_COMPARISON = re.compile(r"(.+?)\s*(<=|>=|==|!=|<|>)\s*(.+)")


Condition = Callable[[Moment], bool]
"""Tells whether it holds in a moment, on either engine."""


def parse_condition(text: str, world: World, reader: FieldReader, now: Moment) -> Condition:
    """The condition that a text names, as ``Session.run_until`` lists them; ``now`` has the fields that it may name.

    Raises UsageError for anything else.
    """
    stripped = text.strip()
    marks = {mark for mark, rule in world.marks.items() if stripped in (mark, rule)}
    if marks:
        if now.marks is None:
            raise UsageError(f"'{stripped}' is a mark, and an engine counts none: choose engines that do.")
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
    """An action by its name, as a number or in words; raises UsageError where the world has none such."""
    if action == RESTART:
        return RESTART
    if world.action_space is not None and world.action_space.contains(action):
        return action  # type: ignore[return-value]
    if action in world.actions:
        return world.actions.index(str(action))
    number = int(action) if str(action).isdecimal() else -1  # type: ignore[arg-type]
    if not 0 <= number < len(world.actions):
        listed = ", ".join(world.actions) or "arrays of numbers"
        raise UsageError(
            f"world '{world.name}' has no action {unknown(str(action), world.actions)}: its actions are {listed}."
        )
    return number


def _differs(field: str, reader: FieldReader, now: Moment) -> Condition:
    keys = (field,) if field in (*FAMILIES, "marks") else reader.find(now.sides[0], field) if field else ()

    def holds(moment: Moment) -> bool:
        # a difference may be a part of the field, or have it as a part
        found = (keys_of(difference.field) for difference in moment.differences)
        return any(each[: len(keys)] == keys[: len(each)] for each in found)

    return holds


def _draws(part: list[str]) -> Condition:
    """A word was drawn at an address, or at one of those with this part: ``ORDER``, ``ORDER 7`` or ``3 ORDER 7``."""
    silent: set[int] = set()  # sides that tell no words, which need not be asked again

    def holds(moment: Moment) -> bool:
        if moment.action in (None, RESTART):
            return False
        drawn: list[list[str]] = []
        for side in {0, 1} - silent:
            phases = moment.phases.asks[side]()
            if phases is None or any(phase.draws is None for phase in phases):
                silent.add(side)
            else:
                drawn += [draw.text.split() for phase in phases for draw in phase.draws or ()]
        if len(silent) == 2:
            raise UsageError("neither engine tells which words it draws: choose one that does.")
        return any(address[at : at + len(part)] == part for address in drawn for at in range(len(address)))

    return holds


def _compares(field: str, sign: str, literal: str, reader: FieldReader, now: Moment) -> Condition:
    keys = reader.find(now.sides[0], field)
    try:
        value = json.loads(literal)
    except ValueError:
        value = literal
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
