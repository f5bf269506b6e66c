"""A state from the dict of the protocol (``S``), read on the host (A3-A7).

``set_state(get_state(state))`` is the identity. A dict that breaks a rule or a range raises one
``StateRefused`` that names the field and the fault; ``docs/reference/hackmatrix-rules.md`` lists the ranges.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from hackmatrix import rules
from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import Cells, Number, constant
from hackmatrix.jax_env.halves import kept
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, BLANK_STATE, Snapshot, State, field_of
from hackmatrix.jax_env.tables import EnemyType
from parity.errors import StateRefused
from worldkit.jax.threefry import Seed

MAX_U32 = 2**32 - 1
MAX_U64 = 2**64 - 1
MAX_DISTANCE = rules.NUM_CELLS - 1
"""Steps of the longest path on the board."""
_DEFAULT_EXIT = rules.CORNERS[-1]
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
_STAGE = {
    "turn": (0, MAX_U32, 0),
    "atkPlusUses": (0, tables.MAX_ATK_PLUS_USES, 0),
    "pendingSiphonTransmissions": _COUNTER,
}
_PROGRAM_TYPES = tuple(map(str.lower, rules.PROGRAMS))


def set_state(state: Mapping[str, Any]) -> State:
    """The state that a dict describes, on the device; absent fields take the values of an empty new board.

    Raises StateRefused as ``read_state`` does.
    """
    return jax.device_put(read_state(state))


def read_state(state: Mapping[str, Any]) -> State:
    """The same with numpy's numbers for leaves, for whoever puts many states on the device at once.

    Raises:
        StateRefused: one sentence that names the field and the fault; nothing is built then.
    """
    top = _Fields(state, "state")
    seed = top.integer("seed", 0, MAX_U64, 0)
    event_number = top.integer("eventNumber", 0, MAX_U32, 0)
    kills = top.integer("killsSinceHistory", *_COUNTER)
    pickups = top.integer("pickupsSinceHistory", *_COUNTER)
    recorded = top.take("history", None)
    now = _read_snapshot(top)
    if recorded is None:
        for name, value in (("killsSinceHistory", kills), ("pickupsSinceHistory", pickups)):
            if value:
                raise StateRefused(f"{name} is {value}, but without a history it must be 0.")
        history = BLANK_SNAPSHOT
    else:
        history = _read_snapshot(_Fields(recorded, "history"))
    words: tuple[Any, Any] = seed & MAX_U32, seed >> 32
    numbers: Any = recorded is not None, kills, pickups, Seed(*words), event_number
    read: State = kept(State(now, history, *numbers))
    return jax.tree.map(lambda blank, value: blank.dtype.type(value), BLANK_STATE, read)


class _Fields:
    """The fields of one object; each is taken once, and what is left over in the end is unknown."""

    def __init__(self, fields: Any, path: str) -> None:
        if not isinstance(fields, Mapping):
            raise StateRefused(f"{path} must be an object with named fields, not {_show(fields)}.")
        self._left = dict(fields)
        self.path = path

    def name(self, key: str) -> str:
        return key if self.path == "state" else f"{self.path}.{key}"

    def take(self, key: str, default: Any) -> Any:
        return self._left.pop(key, default)

    def has(self, key: str) -> bool:
        return key in self._left

    def integer(self, key: str, low: int, high: int, default: int | None) -> int:
        if default is None and key not in self._left:
            raise StateRefused(f"{self.name(key)} is missing.")
        return _integer(self.name(key), self.take(key, default), low, high)

    def flag(self, key: str) -> bool:
        value = self.take(key, False)
        if not isinstance(value, (bool, np.bool_)):
            raise StateRefused(f"{self.name(key)} must be true or false, not {_show(value)}.")
        return bool(value)

    def choice(self, key: str, choices: Sequence[str]) -> int:
        value = self.take(key, None)
        if not isinstance(value, str) or value not in choices:
            raise StateRefused(f"{self.name(key)} must be one of {', '.join(choices)}, not {_show(value)}.")
        return choices.index(value)

    def cell(self, row: str = "row", col: str = "col") -> int:
        last = rules.SIZE - 1
        return rules.SIZE * self.integer(row, 0, last, None) + self.integer(col, 0, last, None)

    def listed(self, key: str) -> "list[_Fields]":
        return [_Fields(item, f"{self.name(key)}[{i}]") for i, item in enumerate(self.items(key))]

    def items(self, key: str) -> list[Any]:
        value = self.take(key, [])
        if not isinstance(value, (list, tuple)):
            raise StateRefused(f"{self.name(key)} must be a list, not {_show(value)}.")
        return list(value)

    def integers(self, ranges: Mapping[str, tuple[int, int, int]]) -> dict[str, int]:
        """The fields of a snapshot that these numbers are, each with its lowest, highest and default value."""
        return {field_of(key): self.integer(key, *limits) for key, limits in ranges.items()}

    def done(self) -> None:
        if self._left:
            raise StateRefused(f"{self.name(str(next(iter(self._left))))} is not a known field.")


def _integer(name: str, value: Any, low: int, high: int) -> int:
    # a client whose numbers are floats sends 3.0 for 3
    whole = isinstance(value, (int, np.integer)) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise StateRefused(f"{name} must be a whole number, not {_show(value)}.")
    if not low <= value <= high:
        raise StateRefused(f"{name} is {value}, outside {low} to {high}.")
    return int(value)


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class _Board:
    """The planes of a snapshot while a dict is read; names the field that would put two things in one place."""

    def __init__(self) -> None:
        self._planes: dict[str, list[int]] = {}
        self.occupants: dict[int, str] = {}

    def write(self, plane: str, cell: int, value: int | bool) -> None:
        self._planes.setdefault(plane, [0] * rules.NUM_CELLS)[cell] = int(value)

    def read(self, plane: str, cell: int) -> int:
        return self._planes.get(plane, [0] * rules.NUM_CELLS)[cell]

    def members(self, plane: str, digit: int = 0) -> Iterable[int]:
        return (cell for cell in range(rules.NUM_CELLS) if self.read(plane, cell) >> digit & 1)

    def plane(self, name: str) -> Cells | Number:
        """A plane as the field of a snapshot that has its name."""
        blank = getattr(BLANK_SNAPSHOT, name)
        if isinstance(blank, Cells):
            return constant(self.members(name))
        return tuple(constant(self.members(name, digit)) for digit in range(len(blank)))

    def occupy(self, cell: int, who: str) -> None:
        if cell in self.occupants:
            raise StateRefused(f"{who} stands at {_at(cell)}, where {self.occupants[cell]} already is.")
        self.occupants[cell] = who


def _at(cell: int) -> str:
    return f"row {cell // rules.SIZE}, col {cell % rules.SIZE}"


def _read_snapshot(top: _Fields) -> Snapshot:
    board = _Board()
    player = _read_player(_Fields(top.take("player", None), top.name("player")))
    cell = player["player"]
    board.occupy(cell, "the player")
    exit_cell = _read_board(top, board)
    stage = _read_stage(top)
    distance = _distance(cell, exit_cell, set(board.members("blocks")))
    numbers: dict[str, Any] = {
        **player,
        **stage,
        **top.integers({"closestApproach": (0, MAX_DISTANCE, distance)}),
        "owned_programs": _read_owned(top),
        "exit": exit_cell,
    }
    top.done()
    planes: dict[str, Any] = {name: board.plane(name) for name in Snapshot._fields if name not in numbers}
    return Snapshot(**numbers, **planes)


def _read_player(player: _Fields) -> dict[str, int]:
    fields = {"player": player.cell(), **player.integers(_PLAYER)}
    player.done()
    return fields


def _read_stage(top: _Fields) -> dict[str, int]:
    stage = top.integer("stage", 1, rules.WON_STAGE, 1)
    interval = top.integer("scheduledTaskInterval", 0, MAX_U32, tables.scheduled_task_interval(stage))
    return {
        "stage": stage,
        "scheduled_task_interval": interval,
        **top.integers({"nextScheduledTaskTurn": (0, MAX_U32, interval), **_STAGE}),
        **{field_of(key): top.flag(key) for key in ("showActivated", "scheduledTasksDisabled", "stepActive")},
    }


def _read_board(top: _Fields, board: _Board) -> int:
    """Everything that has a cell but the player; returns the exit's."""
    for item in top.listed("blocks"):
        _read_block(item, board)
    exit_cell = _read_exit(top)
    if board.read("blocks", exit_cell):
        raise StateRefused(f"{top.name('exit')} is at {_at(exit_cell)}, where a block stands.")
    for item in top.listed("resources"):
        _read_resource(item, board, exit_cell)
    for key, plane in (("siphoned", "siphoned"), ("siphonCenters", "siphon_centers")):
        for item in top.listed(key):
            board.write(plane, item.cell(), True)
            item.done()
    for item in top.listed("enemies"):
        _read_enemy(item, board)
    for item in top.listed("transmissions"):
        _read_transmission(item, board)
    return exit_cell


def _read_exit(top: _Fields) -> int:
    if not top.has("exit"):
        return _DEFAULT_EXIT
    item = _Fields(top.take("exit", None), top.name("exit"))
    cell = item.cell()
    item.done()
    if cell not in rules.CORNERS:
        raise StateRefused(f"{item.path} is at {_at(cell)}, but the exit is a corner.")
    return cell


def _read_program(item: _Fields) -> int | None:
    """The row of table P that ``programType`` and ``programActionIndex`` name; they must agree."""
    named = item.choice("programType", _PROGRAM_TYPES) if item.has("programType") else None
    if not item.has("programActionIndex"):
        return named
    row = item.integer("programActionIndex", rules.FIRST_PROGRAM, rules.NUM_ACTIONS - 1, None) - rules.FIRST_PROGRAM
    if named is not None and named != row:
        raise StateRefused(
            f"{item.name('programType')} is {_PROGRAM_TYPES[named]}, but {item.name('programActionIndex')} means "
            f"{_PROGRAM_TYPES[row]}."
        )
    return row


def _read_block(item: _Fields, board: _Board) -> None:
    cell = item.cell()
    if board.read("blocks", cell):
        raise StateRefused(f"{item.path} is a second block at {_at(cell)}.")
    block_type = rules.BLOCKS[item.choice("type", rules.BLOCKS)]
    program = _read_program(item)
    if block_type == "program" and program is None:
        raise StateRefused(f"{item.name('programType')} is missing: a program block names its program.")
    if block_type == "data" and program is not None:
        raise StateRefused(f"{item.name('programType')} does not belong on a data block.")
    if program is not None and item.has("points"):
        raise StateRefused(f"{item.name('points')} does not belong on a block that holds a program.")
    board.write("blocks", cell, True)
    board.write("questions", cell, block_type == "question")
    if program is None:
        points = default_spawn = item.integer("points", 1, tables.MAX_POINTS, _DEFAULT_POINTS)
        board.write("points", cell, points)
    else:
        default_spawn = int(tables.SPAWN_COUNT[program])
        board.write("program_blocks", cell, True)
        board.write("content", cell, program)
    board.write("spawn_count", cell, item.integer("spawnCount", 0, tables.MAX_SPAWN_COUNT, default_spawn))
    if item.flag("siphoned"):
        board.write("siphoned", cell, True)
    item.done()


def _read_resource(item: _Fields, board: _Board, exit_cell: int) -> None:
    cell = item.cell()
    if board.read("resource entries", cell):
        raise StateRefused(f"{item.path} repeats the cell at {_at(cell)}.")
    board.write("resource entries", cell, True)
    board.write("cell_credits", cell, item.integer("credits", 0, tables.MAX_AMOUNT, 0))
    board.write("cell_energy", cell, item.integer("energy", 0, tables.MAX_AMOUNT, 0))
    if item.flag("dataSiphon"):
        if board.read("blocks", cell):
            raise StateRefused(f"{item.name('dataSiphon')} is at {_at(cell)}, where a block stands.")
        if cell == exit_cell:
            raise StateRefused(f"{item.name('dataSiphon')} is at {_at(cell)}, where the exit is.")
        board.write("pickups", cell, True)
    item.done()


def _read_being(item: _Fields, board: _Board, kind: str, type_key: str) -> tuple[int, int]:
    """What enemies and transmissions have in common; returns the cell and the number of the type."""
    cell, enemy_type = item.cell(), item.choice(type_key, rules.ENEMIES)
    board.occupy(cell, item.path)
    board.write(kind, cell, True)
    board.write("enemy_type", cell, enemy_type)
    board.write("from_siphon", cell, item.flag("spawnedFromSiphon"))
    board.write("from_schedule", cell, item.flag("isFromScheduledTask"))
    return cell, enemy_type


def _read_enemy(item: _Fields, board: _Board) -> None:
    cell, enemy_type = _read_being(item, board, "enemies", "type")
    board.write("enemy_hp", cell, item.integer("hp", 1, tables.ENEMIES[enemy_type].max_hp, None))
    board.write("stunned", cell, item.flag("stunned"))
    board.write("timer", cell, item.integer("disabledTurns", 0, tables.MAX_TIMER, 0))
    if enemy_type == EnemyType.CRYPTOG:
        is_hinted = item.has("lastKnownRow") or item.has("lastKnownCol")
        board.write("last_known", cell, item.cell("lastKnownRow", "lastKnownCol") if is_hinted else cell)
    item.done()


def _read_transmission(item: _Fields, board: _Board) -> None:
    cell, _ = _read_being(item, board, "transmissions", "enemyType")
    if board.read("blocks", cell):
        raise StateRefused(f"{item.path} is at {_at(cell)}, where a block stands.")
    board.write("timer", cell, item.integer("turnsRemaining", 0, tables.MAX_TIMER, None))
    item.done()


def _read_owned(top: _Fields) -> int:
    owned = 0
    for i, action in enumerate(top.items("ownedPrograms")):
        name = f"{top.name('ownedPrograms')}[{i}]"
        bit = 1 << _integer(name, action, rules.FIRST_PROGRAM, rules.NUM_ACTIONS - 1) - rules.FIRST_PROGRAM
        if owned & bit:
            raise StateRefused(f"{name} repeats program {action}.")
        owned |= bit
    return owned


def _distance(start: int, goal: int, blocked: set[int]) -> int:
    """W1 on plain sets: steps over cells without blocks, 0 when there is no path."""
    frontier, seen, distance = {start}, {start}, 0
    while frontier and goal not in seen:
        frontier = {cell for here in frontier for cell in _around(here) if cell not in seen and cell not in blocked}
        seen |= frontier
        distance += 1
    return distance if goal in seen else 0


def _around(cell: int) -> list[int]:
    row, column = divmod(cell, rules.SIZE)
    places = [(row + up, column + right) for up, right in rules.DIRECTIONS]
    return [rules.SIZE * r + c for r, c in places if 0 <= r < rules.SIZE and 0 <= c < rules.SIZE]
