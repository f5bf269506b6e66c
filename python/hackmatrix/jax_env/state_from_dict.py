"""A state from the dict of the protocol (``S``), read on the host (A3-A7).

``set_state(get_state(state))`` is the identity. A dict that breaks a rule or a range raises one
``StateRefused`` that names the field and the fault; ``docs/reference/hackmatrix-rules.md`` lists the ranges.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from reprlib import repr as abridged
from typing import Any

import jax
import numpy as np

from hackmatrix import rules
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import Cells, Number, constant, neighbours, to_pairs
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, BLANK_STATE, Snapshot, State, field_of
from hackmatrix.jax_env.tables import EnemyType
from rlparity.errors import StateRefused
from rlworldkit.jax.threefry import Seed

MAX_U32 = 2**32 - 1
_DEFAULT_EXIT = {"row": rules.SIZE - 1, "col": rules.SIZE - 1}
_DEFAULT_POINTS = 5
_COUNTER = (0, tables.MAX_COUNTER, 0)
"""Lowest, highest and default value of a counter (A7)."""
_PLAYER = {
    "hp": (0, rules.MAX_HP, rules.MAX_HP),
    "credits": _COUNTER,
    "energy": _COUNTER,
    "dataSiphons": _COUNTER,
    "attackDamage": (1, rules.MAX_ATTACK, 1),
    "score": _COUNTER,
}
_USES = (0, tables.MAX_ATK_PLUS_USES, 0)
_STAGE = {"turn": (0, MAX_U32, 0), "atkPlusUses": _USES, "pendingSiphonTransmissions": _COUNTER}
_PROGRAM_TYPES = tuple(map(str.lower, rules.PROGRAMS))


def set_state(state: Mapping[str, Any]) -> State:
    """Read a state like ``read_state``, and put it on the device."""
    return jax.device_put(read_state(state))


def read_state(state: Mapping[str, Any]) -> State:
    """Build the state that a dict describes, with NumPy scalars as leaves.

    Absent fields take the values of an empty new board. Raises StateRefused, one sentence that names the field and the
    fault.
    """
    top = _Fields(state, "state")
    seed = top.integer("seed", 0, 2**64 - 1, 0)
    event_number = top.integer("eventNumber", 0, MAX_U32, 0)
    since = {key: top.integer(key, *_COUNTER) for key in ("killsSinceHistory", "pickupsSinceHistory")}
    recorded = top.left.pop("history", None)
    now, history = _read_snapshot(top), BLANK_SNAPSHOT
    if recorded is not None:
        history = _read_snapshot(_Fields(recorded, "history"))
    elif counted := next(((name, value) for name, value in since.items() if value), None):
        raise StateRefused("{} is {}, but without a history it must be 0.".format(*counted))
    words: tuple[Any, Any] = seed & MAX_U32, seed >> 32
    numbers: Any = recorded is not None, *since.values(), Seed(*words), event_number
    read: State = to_pairs(State(now, history, *numbers))
    return jax.tree.map(lambda blank, value: blank.dtype.type(value), BLANK_STATE, read)


class _Fields:
    """Fields of one object: each is taken once, and fields that are left at the end are unknown ones."""

    def __init__(self, fields: Any, path: str) -> None:
        if not isinstance(fields, Mapping):
            raise StateRefused(f"{path} must be an object with named fields, not {abridged(fields)}.")
        self.left = dict(fields)
        self.path = path

    def name(self, key: str) -> str:
        return key if self.path == "state" else f"{self.path}.{key}"

    def object(self, key: str, default: Any = None) -> "_Fields":
        return _Fields(self.left.pop(key, default), self.name(key))

    def integer(self, key: str, low: int, high: int, default: int | None) -> int:
        if default is None and key not in self.left:
            raise StateRefused(f"{self.name(key)} is missing.")
        return _integer(self.name(key), self.left.pop(key, default), low, high)

    def integers(self, ranges: Mapping[str, tuple[int, int, int]]) -> dict[str, int]:
        """Take numbers as snapshot fields; ``ranges`` has the lowest, highest and default value of each."""
        return {field_of(key): self.integer(key, *limits) for key, limits in ranges.items()}

    def flag(self, key: str) -> bool:
        value = self.left.pop(key, False)
        if not isinstance(value, (bool, np.bool_)):
            raise StateRefused(f"{self.name(key)} must be true or false, not {abridged(value)}.")
        return bool(value)

    def choice(self, key: str, choices: Sequence[str]) -> int:
        value = self.left.pop(key, None)
        if not isinstance(value, str) or value not in choices:
            raise StateRefused(f"{self.name(key)} must be one of {', '.join(choices)}, not {abridged(value)}.")
        return choices.index(value)

    def cell(self, row: str = "row", col: str = "col") -> int:
        last = rules.SIZE - 1
        return rules.SIZE * self.integer(row, 0, last, None) + self.integer(col, 0, last, None)

    def items(self, key: str) -> list[tuple[str, Any]]:
        """The entries of a list, each with its name for error messages."""
        value = self.left.pop(key, [])
        if not isinstance(value, (list, tuple)):
            raise StateRefused(f"{self.name(key)} must be a list, not {abridged(value)}.")
        return [(f"{self.name(key)}[{i}]", item) for i, item in enumerate(value)]

    def objects(self, key: str) -> "Iterator[_Fields]":
        """Yield the objects of a list; all fields of an object must be taken before the next one is requested."""
        for item in [_Fields(item, name) for name, item in self.items(key)]:
            yield item
            item.done()

    def done(self) -> None:
        if self.left:
            raise StateRefused(f"{self.name(str(next(iter(self.left))))} is not a known field.")


def _integer(name: str, value: Any, low: int, high: int) -> int:
    # a client whose numbers are floats sends 3.0 for 3
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise StateRefused(f"{name} must be a whole number, not {abridged(value)}.")
    if not low <= value <= high:
        raise StateRefused(f"{name} is {abridged(value)}, outside {low} to {high}.")
    return int(value)


_Planes = defaultdict[str, list[Any]]
"""Planes of a snapshot by name while a dict is read, each a list of one value per cell."""


def _plane(name: str, values: Sequence[int]) -> Cells | Number:
    """Convert the values of all cells to the type of the snapshot field ``name``."""

    def members(digit: int) -> Cells:
        return constant(cell for cell, value in enumerate(values) if value >> digit & 1)

    blank = getattr(BLANK_SNAPSHOT, name)
    return members(0) if isinstance(blank, Cells) else tuple(map(members, range(len(blank))))


def _place(cell: int) -> str:
    return f"row {cell // rules.SIZE}, col {cell % rules.SIZE}"


def _read_snapshot(top: _Fields) -> Snapshot:
    player = top.object("player")
    numbers: dict[str, Any] = {"player": player.cell(), **player.integers(_PLAYER)}
    player.done()
    at: _Planes = defaultdict(lambda: [0] * rules.NUM_CELLS)
    at["occupants"][numbers["player"]] = "the player"
    numbers["exit"] = _read_board(top, at)
    numbers["stage"] = top.integer("stage", 1, rules.WON_STAGE, 1)
    numbers |= top.integers({"scheduledTaskInterval": (0, MAX_U32, tables.scheduled_task_interval(numbers["stage"]))})
    numbers |= top.integers({"nextScheduledTaskTurn": (0, MAX_U32, numbers["scheduled_task_interval"]), **_STAGE})
    numbers |= {field_of(key): top.flag(key) for key in ("showActivated", "scheduledTasksDisabled", "stepActive")}
    distance = _distance(numbers["player"], numbers["exit"], constant(np.flatnonzero(at["blocks"]).tolist()))
    # no path is longer than all cells
    numbers |= top.integers({"closestApproach": (0, rules.NUM_CELLS - 1, distance)})
    numbers["owned_programs"] = _read_owned(top)
    top.done()
    planes: dict[str, Any] = {name: _plane(name, at[name]) for name in Snapshot._fields if name not in numbers}
    return Snapshot(**numbers, **planes)


def _read_board(top: _Fields, at: _Planes) -> int:
    """Read everything that has a cell except the player; return the cell of the exit."""
    for item in top.objects("blocks"):
        _read_block(item, at)
    item = top.object("exit", _DEFAULT_EXIT)
    exit_cell = item.cell()
    item.done()
    if exit_cell not in rules.CORNERS:
        raise StateRefused(f"{item.path} is at {_place(exit_cell)}, but the exit is a corner.")
    if at["blocks"][exit_cell]:
        raise StateRefused(f"{item.path} is at {_place(exit_cell)}, where a block stands.")
    for item in top.objects("resources"):
        _read_resource(item, at, exit_cell)
    for key in ("siphoned", "siphonCenters"):
        for item in top.objects(key):
            at[field_of(key)][item.cell()] = True
    for item in top.objects("enemies"):
        _read_enemy(item, at)
    for item in top.objects("transmissions"):
        cell = _read_being(item, at, "transmissions", "enemyType")
        if at["blocks"][cell]:
            raise StateRefused(f"{item.path} is at {_place(cell)}, where a block stands.")
        at["timer"][cell] = item.integer("turnsRemaining", 0, tables.MAX_TIMER, None)
    return exit_cell


def _read_program(item: _Fields) -> int | None:
    """The row of table P that ``programType`` and ``programActionIndex`` name; they must agree."""
    named = item.choice("programType", _PROGRAM_TYPES) if "programType" in item.left else None
    if "programActionIndex" not in item.left:
        return named
    row = item.integer("programActionIndex", rules.FIRST_PROGRAM, rules.NUM_ACTIONS - 1, None) - rules.FIRST_PROGRAM
    if named not in (None, row):
        is_named = f"{item.name('programType')} is {_PROGRAM_TYPES[named]}"
        raise StateRefused(f"{is_named}, but {item.name('programActionIndex')} means {_PROGRAM_TYPES[row]}.")
    return row


def _read_block(item: _Fields, at: _Planes) -> None:
    cell = item.cell()
    if at["blocks"][cell]:
        raise StateRefused(f"{item.path} is a second block at {_place(cell)}.")
    block_type = rules.BLOCKS[item.choice("type", rules.BLOCKS)]
    program = _read_program(item)
    if block_type == "program" and program is None:
        raise StateRefused(f"{item.name('programType')} is missing: a program block names its program.")
    if block_type == "data" and program is not None:
        raise StateRefused(f"{item.name('programType')} does not belong on a data block.")
    if program is not None and "points" in item.left:
        raise StateRefused(f"{item.name('points')} does not belong on a block that holds a program.")
    at["blocks"][cell], at["questions"][cell] = True, block_type == "question"
    if program is None:
        points = default_spawn = item.integer("points", 1, tables.MAX_POINTS, _DEFAULT_POINTS)
        at["points"][cell] = points
    else:
        default_spawn = int(tables.SPAWN_COUNT[program])
        at["program_blocks"][cell], at["content"][cell] = True, program
    at["spawn_count"][cell] = item.integer("spawnCount", 0, tables.MAX_SPAWN_COUNT, default_spawn)
    at["siphoned"][cell] |= item.flag("siphoned")


def _read_resource(item: _Fields, at: _Planes, exit_cell: int) -> None:
    cell = item.cell()
    if at["resource entries"][cell]:
        raise StateRefused(f"{item.path} repeats the cell at {_place(cell)}.")
    at["resource entries"][cell] = True
    for key in ("credits", "energy"):
        at[f"cell_{key}"][cell] = item.integer(key, 0, tables.MAX_AMOUNT, 0)
    at["pickups"][cell] = item.flag("dataSiphon")
    if at["pickups"][cell] and (at["blocks"][cell] or cell == exit_cell):
        what = "a block stands" if at["blocks"][cell] else "the exit is"
        raise StateRefused(f"{item.name('dataSiphon')} is at {_place(cell)}, where {what}.")


def _read_being(item: _Fields, at: _Planes, kind: str, type_key: str) -> int:
    """Read the common fields of an enemy or a transmission; return its cell."""
    cell, enemy_type = item.cell(), item.choice(type_key, rules.ENEMIES)
    if at["occupants"][cell]:
        raise StateRefused(f"{item.path} stands at {_place(cell)}, where {at['occupants'][cell]} already is.")
    at["occupants"][cell] = item.path
    at[kind][cell], at["enemy_type"][cell] = True, enemy_type
    at["from_siphon"][cell] = item.flag("spawnedFromSiphon")
    at["from_schedule"][cell] = item.flag("isFromScheduledTask")
    return cell


def _read_enemy(item: _Fields, at: _Planes) -> None:
    cell = _read_being(item, at, "enemies", "type")
    enemy_type = at["enemy_type"][cell]
    at["enemy_hp"][cell] = item.integer("hp", 1, tables.ENEMIES[enemy_type].max_hp, None)
    at["stunned"][cell] = item.flag("stunned")
    at["timer"][cell] = item.integer("disabledTurns", 0, tables.MAX_TIMER, 0)
    if enemy_type == EnemyType.CRYPTOG:
        is_hinted = "lastKnownRow" in item.left or "lastKnownCol" in item.left
        at["last_known"][cell] = item.cell("lastKnownRow", "lastKnownCol") if is_hinted else cell


def _read_owned(top: _Fields) -> int:
    owned = 0
    for name, action in top.items("ownedPrograms"):
        bit = 1 << _integer(name, action, rules.FIRST_PROGRAM, rules.NUM_ACTIONS - 1) - rules.FIRST_PROGRAM
        if owned & bit:
            raise StateRefused(f"{name} repeats program {action}.")
        owned |= bit
    return owned


def _distance(start: int, goal: int, blocks: Cells) -> int:
    """W1: steps over cells without blocks, 0 when there is no path."""
    reached, distance = constant([start]), 0
    while not reached.word >> np.uint64(goal) & np.uint64(1):
        grown = reached | (neighbours(reached) & ~blocks)
        if grown == reached:
            return 0
        reached, distance = grown, distance + 1
    return distance
