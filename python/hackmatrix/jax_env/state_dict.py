"""A state as the dict of the protocol (``S``), read and written on the host (A3-A7).

``set_state(get_state(state))`` is the identity. A dict that breaks a rule or a range raises one
``StateRefused`` that names the field and the fault; ``docs/rules.md`` lists the ranges.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from hackmatrix.jax_env import tables
from hackmatrix.jax_env.bitboard import HALF, Cells, Number
from hackmatrix.jax_env.state import BLANK_SNAPSHOT, Seed, Snapshot, State
from parity.errors import StateRefused

MAX_U32 = 2**32 - 1
MAX_U64 = 2**64 - 1
MAX_DISTANCE = 35
CORNERS = (0, 5, 30, 35)
ENEMY_NAMES = tuple(enemy.name for enemy in tables.ENEMIES)
PROGRAM_NAMES = tuple(program.name for program in tables.PROGRAMS)
BLOCK_TYPES = ("data", "program", "question")

# ---------------------------------------------------------------------------------------------- writing


def get_state(state: State) -> dict[str, Any]:
    """The complete state of one game (scalar leaves) as a dict of plain numbers, flags and lists."""
    host: State = jax.device_get(state)
    if np.shape(host.event) != ():
        raise StateRefused("get_state takes the state of one game; index the batch first, for example with tree.map.")
    return {
        **_write_snapshot(host.now),
        "seed": int(host.seed.low) | int(host.seed.high) << 32,
        "eventNumber": int(host.event),
        "killsSinceHistory": int(host.kills),
        "pickupsSinceHistory": int(host.pickups),
        "history": _write_snapshot(host.history) if host.has_history else None,
    }


def _bits(cells: Cells) -> int:
    return int(cells.low) | int(cells.high) << HALF


def _values(number: Number) -> list[int]:
    planes = [_bits(plane) for plane in number]
    return [sum((plane >> cell & 1) << digit for digit, plane in enumerate(planes)) for cell in range(36)]


def _members(bits: int) -> list[int]:
    return [cell for cell in range(36) if bits >> cell & 1]


def _place(cell: int) -> dict[str, int]:
    return {"row": cell // 6, "col": cell % 6}


def _write_snapshot(now: Snapshot) -> dict[str, Any]:
    siphoned, siphon, schedule = _bits(now.siphoned), _bits(now.from_siphon), _bits(now.from_schedule)
    questions, program_blocks, stunned = _bits(now.questions), _bits(now.program_blocks), _bits(now.stunned)
    points, content, spawn = _values(now.points), _values(now.content), _values(now.spawn)
    kind, hp, timer, last_known = (_values(n) for n in (now.kind, now.enemy_hp, now.timer, now.last_known))
    cell_credits, cell_energy, pickups = _values(now.cell_credits), _values(now.cell_energy), _bits(now.pickups)

    def origin(cell: int) -> dict[str, bool]:
        return {"spawnedFromSiphon": bool(siphon >> cell & 1), "isFromScheduledTask": bool(schedule >> cell & 1)}

    def enemy(cell: int) -> dict[str, Any]:
        seen = last_known[cell]
        hint = {"lastKnownRow": seen // 6, "lastKnownCol": seen % 6} if kind[cell] == tables.CRYPTOG else {}
        return {
            **_place(cell),
            **origin(cell),
            "type": ENEMY_NAMES[kind[cell]],
            "hp": hp[cell],
            "stunned": bool(stunned >> cell & 1),
            "disabledTurns": timer[cell],
            **hint,
        }

    def transmission(cell: int) -> dict[str, Any]:
        return {
            **_place(cell),
            **origin(cell),
            "turnsRemaining": timer[cell],
            "enemyType": ENEMY_NAMES[kind[cell]],
        }

    def block(cell: int) -> dict[str, Any]:
        is_program = program_blocks >> cell & 1
        program = {"programActionIndex": tables.FIRST_PROGRAM_ACTION + content[cell]}
        held = program if is_program else {"points": points[cell]}
        shown = "question" if questions >> cell & 1 else BLOCK_TYPES[is_program]
        return {
            **_place(cell),
            **held,
            "type": shown,
            "spawnCount": spawn[cell],
            "siphoned": bool(siphoned >> cell & 1),
        }

    def resource(cell: int) -> dict[str, Any]:
        return {
            **_place(cell),
            "credits": cell_credits[cell],
            "energy": cell_energy[cell],
            "dataSiphon": bool(pickups >> cell & 1),
        }

    has_resource = [c for c in range(36) if cell_credits[c] or cell_energy[c] or pickups >> c & 1]
    return {
        "player": {
            **_place(int(now.player)),
            "hp": int(now.hp),
            "credits": int(now.credits),
            "energy": int(now.energy),
            "dataSiphons": int(now.siphons),
            "attackDamage": int(now.attack),
            "score": int(now.score),
        },
        "enemies": [enemy(cell) for cell in _members(_bits(now.enemies))],
        "transmissions": [transmission(cell) for cell in _members(_bits(now.transmissions))],
        "blocks": [block(cell) for cell in _members(_bits(now.blocks))],
        "resources": [resource(cell) for cell in has_resource],
        "siphoned": [_place(cell) for cell in _members(siphoned)],
        "siphonCenters": [_place(cell) for cell in _members(_bits(now.centres))],
        "exit": _place(int(now.exit)),
        "ownedPrograms": [
            tables.FIRST_PROGRAM_ACTION + row for row in range(tables.NUM_PROGRAMS) if int(now.programs) >> row & 1
        ],
        "stage": int(now.stage),
        "turn": int(now.turn),
        "showActivated": bool(now.show),
        "scheduledTasksDisabled": bool(now.calm),
        "stepActive": bool(now.step),
        "atkPlusUses": int(now.attack_boosts),
        "scheduledTaskInterval": int(now.interval),
        "nextScheduledTaskTurn": int(now.next_spawn),
        "pendingSiphonTransmissions": int(now.pending),
        "closestApproach": int(now.closest),
    }


# ---------------------------------------------------------------------------------------------- reading


def set_state(state: Mapping[str, Any]) -> State:
    """The state that a dict describes; absent fields take the values of an empty new board.

    Raises:
        StateRefused: one sentence that names the field and the fault; nothing is built then.
    """
    top = _Fields(state, "state")
    seed = top.integer("seed", 0, MAX_U64, 0)
    event = top.integer("eventNumber", 0, MAX_U32, 0)
    kills = top.integer("killsSinceHistory", 0, tables.MAX_COUNTER, 0)
    pickups = top.integer("pickupsSinceHistory", 0, tables.MAX_COUNTER, 0)
    recorded = top.take("history", None)
    now = _read_snapshot(top)
    if recorded is None:
        for name, value in (("killsSinceHistory", kills), ("pickupsSinceHistory", pickups)):
            if value:
                raise StateRefused(f"{name} is {value}, but without a history it must be 0.")
        history = BLANK_SNAPSHOT
    else:
        history = _read_snapshot(_Fields(recorded, "history"))
    built = State(
        now=now,
        history=history,
        has_history=np.bool_(recorded is not None),  # type: ignore[arg-type]
        kills=np.int32(kills),  # type: ignore[arg-type]
        pickups=np.int32(pickups),  # type: ignore[arg-type]
        seed=Seed(np.uint32(seed & MAX_U32), np.uint32(seed >> 32)),  # type: ignore[arg-type]
        event=np.uint32(event),  # type: ignore[arg-type]
    )
    return jax.device_put(built)


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

    def cell(self) -> int:
        return 6 * self.integer("row", 0, 5, None) + self.integer("col", 0, 5, None)

    def listed(self, key: str) -> "list[_Fields]":
        return [_Fields(item, f"{self.name(key)}[{i}]") for i, item in enumerate(self.items(key))]

    def items(self, key: str) -> list[Any]:
        value = self.take(key, [])
        if not isinstance(value, (list, tuple)):
            raise StateRefused(f"{self.name(key)} must be a list, not {_show(value)}.")
        return list(value)

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
    """Numbers per cell while a dict is read; names the field that would put two things in one place."""

    def __init__(self) -> None:
        self._numbers: dict[str, list[int]] = {}
        self.occupants: dict[int, str] = {}

    def write(self, plane: str, cell: int, value: int | bool) -> None:
        self._numbers.setdefault(plane, [0] * 36)[cell] = int(value)

    def read(self, plane: str, cell: int) -> int:
        return self._numbers.get(plane, [0] * 36)[cell]

    def number(self, plane: str, digits: int) -> Number:
        values = self._numbers.get(plane, [0] * 36)
        return tuple(_cells(c for c in range(36) if values[c] >> digit & 1) for digit in range(digits))

    def cells(self, plane: str) -> Cells:
        return self.number(plane, 1)[0]

    def occupy(self, cell: int, who: str) -> None:
        if cell in self.occupants:
            raise StateRefused(f"{who} stands at {_at(cell)}, where {self.occupants[cell]} already is.")
        self.occupants[cell] = who


def _at(cell: int) -> str:
    return f"row {cell // 6}, col {cell % 6}"


def _cells(members: Iterable[int]) -> Cells:
    bits = sum(1 << cell for cell in members)
    return Cells(np.uint32(bits & (1 << HALF) - 1), np.uint32(bits >> HALF))  # type: ignore[arg-type]


def _read_snapshot(top: _Fields) -> Snapshot:
    board = _Board()
    player = _Fields(top.take("player", None), top.name("player"))
    player_cell = player.cell()
    counter = (0, tables.MAX_COUNTER, 0)
    board.occupy(player_cell, "the player")
    fields: dict[str, Any] = {
        "player": np.uint32(player_cell),
        "hp": player.integer("hp", 0, tables.MAX_HP, tables.MAX_HP),
        "credits": player.integer("credits", *counter),
        "energy": player.integer("energy", *counter),
        "siphons": player.integer("dataSiphons", *counter),
        "attack": player.integer("attackDamage", 1, tables.MAX_ATTACK, 1),
        "score": player.integer("score", *counter),
    }
    player.done()

    for item in top.listed("blocks"):
        _read_block(item, board)
    exit_cell = _read_exit(top)
    if board.read("block", exit_cell):
        raise StateRefused(f"{top.name('exit')} is at {_at(exit_cell)}, where a block stands.")
    for item in top.listed("resources"):
        _read_resource(item, board, exit_cell)
    for key, plane in (("siphoned", "siphoned"), ("siphonCenters", "centre")):
        for item in top.listed(key):
            board.write(plane, item.cell(), True)
            item.done()
    for item in top.listed("enemies"):
        _read_enemy(item, board)
    for item in top.listed("transmissions"):
        _read_transmission(item, board)

    stage = top.integer("stage", 1, tables.WON_STAGE, 1)
    interval = top.integer("scheduledTaskInterval", 0, MAX_U32, tables.spawn_interval(stage))
    fields |= {
        "programs": np.uint32(_read_owned(top)),
        "exit": np.uint32(exit_cell),
        "stage": stage,
        "turn": np.uint32(top.integer("turn", 0, MAX_U32, 0)),
        "show": np.bool_(top.flag("showActivated")),
        "calm": np.bool_(top.flag("scheduledTasksDisabled")),
        "step": np.bool_(top.flag("stepActive")),
        "attack_boosts": top.integer("atkPlusUses", 0, 2, 0),
        "interval": np.uint32(interval),
        "next_spawn": np.uint32(top.integer("nextScheduledTaskTurn", 0, MAX_U32, interval)),
        "pending": top.integer("pendingSiphonTransmissions", *counter),
    }
    blocked = {cell for cell in range(36) if board.read("block", cell)}
    fields["closest"] = top.integer("closestApproach", 0, MAX_DISTANCE, _distance(player_cell, exit_cell, blocked))
    top.done()
    planes: dict[str, Any] = {
        "blocks": board.cells("block"),
        "questions": board.cells("question"),
        "program_blocks": board.cells("program_block"),
        "points": board.number("points", 4),
        "content": board.number("content", 5),
        "spawn": board.number("spawn", 4),
        "cell_credits": board.number("credits", 2),
        "cell_energy": board.number("energy", 2),
        "siphoned": board.cells("siphoned"),
        "centres": board.cells("centre"),
        "pickups": board.cells("pickup"),
        "enemies": board.cells("enemy"),
        "transmissions": board.cells("transmission"),
        "kind": board.number("kind", 2),
        "enemy_hp": board.number("hp", 2),
        "stunned": board.cells("stunned"),
        "from_siphon": board.cells("from_siphon"),
        "from_schedule": board.cells("from_schedule"),
        "timer": board.number("timer", 8),
        "last_known": board.number("last_known", 6),
    }
    scalars: dict[str, Any] = {
        name: np.int32(value) if isinstance(value, int) else value for name, value in fields.items()
    }
    return Snapshot(**scalars, **planes)


def _read_exit(top: _Fields) -> int:
    if not top.has("exit"):
        return 35
    item = _Fields(top.take("exit", None), top.name("exit"))
    cell = item.cell()
    item.done()
    if cell not in CORNERS:
        raise StateRefused(f"{item.path} is at {_at(cell)}, but the exit is a corner.")
    return cell


def _read_program(item: _Fields) -> int | None:
    """The row of table P that ``programType`` and ``programActionIndex`` name; they must agree."""
    named = item.choice("programType", PROGRAM_NAMES) if item.has("programType") else None
    if not item.has("programActionIndex"):
        return named
    last = tables.NUM_ACTIONS - 1
    row = item.integer("programActionIndex", tables.FIRST_PROGRAM_ACTION, last, None) - tables.FIRST_PROGRAM_ACTION
    if named is not None and named != row:
        raise StateRefused(
            f"{item.name('programType')} is {PROGRAM_NAMES[named]}, but {item.name('programActionIndex')} means "
            f"{PROGRAM_NAMES[row]}."
        )
    return row


def _read_block(item: _Fields, board: _Board) -> None:
    cell = item.cell()
    if board.read("block", cell):
        raise StateRefused(f"{item.path} is a second block at {_at(cell)}.")
    block_type = BLOCK_TYPES[item.choice("type", BLOCK_TYPES)]
    program = _read_program(item)
    if block_type == "program" and program is None:
        raise StateRefused(f"{item.name('programType')} is missing: a program block names its program.")
    if block_type == "data" and program is not None:
        raise StateRefused(f"{item.name('programType')} does not belong on a data block.")
    if program is not None and item.has("points"):
        raise StateRefused(f"{item.name('points')} does not belong on a block that holds a program.")
    board.write("block", cell, True)
    board.write("question", cell, block_type == "question")
    if program is None:
        points = default_spawn = item.integer("points", 1, 9, 5)
        board.write("points", cell, points)
    else:
        default_spawn = int(tables.SPAWN_COUNT[program])
        board.write("program_block", cell, True)
        board.write("content", cell, program)
    board.write("spawn", cell, item.integer("spawnCount", 0, 9, default_spawn))
    if item.flag("siphoned"):
        board.write("siphoned", cell, True)
    item.done()


def _read_resource(item: _Fields, board: _Board, exit_cell: int) -> None:
    cell = item.cell()
    if board.read("has_resource", cell):
        raise StateRefused(f"{item.path} repeats the cell at {_at(cell)}.")
    board.write("has_resource", cell, True)
    board.write("credits", cell, item.integer("credits", 0, 3, 0))
    board.write("energy", cell, item.integer("energy", 0, 3, 0))
    if item.flag("dataSiphon"):
        if board.read("block", cell):
            raise StateRefused(f"{item.name('dataSiphon')} is at {_at(cell)}, where a block stands.")
        if cell == exit_cell:
            raise StateRefused(f"{item.name('dataSiphon')} is at {_at(cell)}, where the exit is.")
        board.write("pickup", cell, True)
    item.done()


def _read_origin(item: _Fields, board: _Board, cell: int) -> None:
    board.write("from_siphon", cell, item.flag("spawnedFromSiphon"))
    board.write("from_schedule", cell, item.flag("isFromScheduledTask"))


def _read_enemy(item: _Fields, board: _Board) -> None:
    cell = item.cell()
    kind = item.choice("type", ENEMY_NAMES)
    board.occupy(cell, item.path)
    board.write("enemy", cell, True)
    board.write("kind", cell, kind)
    board.write("hp", cell, item.integer("hp", 1, tables.ENEMIES[kind].max_hp, None))
    board.write("stunned", cell, item.flag("stunned"))
    board.write("timer", cell, item.integer("disabledTurns", 0, tables.MAX_TIMER, 0))
    _read_origin(item, board, cell)
    if kind == tables.CRYPTOG:
        seen = cell
        if item.has("lastKnownRow") or item.has("lastKnownCol"):
            seen = 6 * item.integer("lastKnownRow", 0, 5, None) + item.integer("lastKnownCol", 0, 5, None)
        board.write("last_known", cell, seen)
    item.done()


def _read_transmission(item: _Fields, board: _Board) -> None:
    cell = item.cell()
    board.occupy(cell, item.path)
    if board.read("block", cell):
        raise StateRefused(f"{item.path} is at {_at(cell)}, where a block stands.")
    board.write("transmission", cell, True)
    board.write("timer", cell, item.integer("turnsRemaining", 0, tables.MAX_TIMER, None))
    board.write("kind", cell, item.choice("enemyType", ENEMY_NAMES))
    _read_origin(item, board, cell)
    item.done()


def _read_owned(top: _Fields) -> int:
    owned = 0
    for i, action in enumerate(top.items("ownedPrograms")):
        name = f"{top.name('ownedPrograms')}[{i}]"
        first, last = tables.FIRST_PROGRAM_ACTION, tables.NUM_ACTIONS - 1
        bit = 1 << _integer(name, action, first, last) - first
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
    row, column = divmod(cell, 6)
    places = [(row + 1, column), (row - 1, column), (row, column - 1), (row, column + 1)]
    return [6 * r + c for r, c in places if 0 <= r < 6 and 0 <= c < 6]
