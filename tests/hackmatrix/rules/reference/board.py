"""Board, tables and state (A), and the state dict of the protocol ("S")."""

import re
from collections import deque
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

CELLS = range(36)
CORNERS = (0, 5, 30, 35)
DIRECTIONS = ((1, 0), (-1, 0), (0, -1), (0, 1))
ENEMIES = ("virus", "daemon", "glitch", "cryptog")
MAX_HP = {"virus": 2, "daemon": 3, "glitch": 2, "cryptog": 2}
SPEED = {"virus": 2, "daemon": 1, "glitch": 1, "cryptog": 1}

# Table P: name, credits, energy, spawn; the first is action 5.
PROGRAM_TABLE = (
    ("push", 0, 2, 4),
    ("pull", 0, 2, 4),
    ("crash", 3, 2, 6),
    ("warp", 2, 2, 5),
    ("poly", 1, 1, 3),
    ("wait", 0, 1, 1),
    ("debug", 3, 0, 4),
    ("row", 3, 1, 2),
    ("col", 3, 1, 2),
    ("undo", 1, 0, 3),
    ("step", 0, 3, 4),
    ("siph+", 5, 0, 7),
    ("exch", 4, 0, 3),
    ("show", 2, 0, 2),
    ("reset", 0, 4, 2),
    ("calm", 2, 4, 6),
    ("d_bom", 3, 0, 4),
    ("delay", 1, 2, 4),
    ("anti-v", 3, 0, 4),
    ("score", 0, 5, 5),
    ("reduc", 2, 1, 3),
    ("atk+", 4, 4, 8),
    ("hack", 2, 2, 4),
)
ACTION = {name: 5 + place for place, (name, *_) in enumerate(PROGRAM_TABLE)}
NAME = {action: name for name, action in ACTION.items()}
PROGRAM_ACTIONS = tuple(NAME)
NUM_ACTIONS = 5 + len(PROGRAM_ACTIONS)
COST = {5 + place: (credits, energy) for place, (_, credits, energy, _) in enumerate(PROGRAM_TABLE)}
SPAWN = {5 + place: spawn for place, (*_, spawn) in enumerate(PROGRAM_TABLE)}


def row(cell: int) -> int:
    """The row of a cell (A1)."""
    return cell // 6


def col(cell: int) -> int:
    """The column of a cell (A1)."""
    return cell % 6


def beside(cell: int, step: tuple[int, int]) -> int | None:
    """The cell one step away, None off the board."""
    to_row, to_col = row(cell) + step[0], col(cell) + step[1]
    return 6 * to_row + to_col if 0 <= to_row < 6 and 0 <= to_col < 6 else None


def neighbours(cell: int) -> list[int]:
    """Orthogonal neighbours in direction order (A2)."""
    return [there for step in DIRECTIONS if (there := beside(cell, step)) is not None]


def around(cell: int) -> list[int]:
    """The 8 neighbours that are on the board."""
    steps = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]
    return [there for step in steps if (there := beside(cell, step)) is not None]


def cross(cell: int) -> list[int]:
    """The cell itself and its orthogonal neighbours (S1)."""
    return [cell, *neighbours(cell)]


def apart(a: int, b: int) -> int:
    """Manhattan distance (A2)."""
    return abs(row(a) - row(b)) + abs(col(a) - col(b))


def aligned(a: int, b: int) -> bool:
    """Return whether two cells share a row or a column."""
    return row(a) == row(b) or col(a) == col(b)


def path_lengths(goal: int, closed: Container[int]) -> dict[int, int]:
    """Length of the shortest path to ``goal`` from every cell that has one; ``goal`` itself is always open."""
    lengths = {goal: 0}
    queue = deque([goal])
    while queue:
        here = queue.popleft()
        for there in neighbours(here):
            if there not in lengths and there not in closed:
                lengths[there] = lengths[here] + 1
                queue.append(there)
    return lengths


def saturated(number: int, most: int = 9999) -> int:
    """A7."""
    return min(max(number, 0), most)


@dataclass
class Enemy:
    """A5."""

    enemy_type: str
    hp: int
    stunned: bool = False
    disabled_turns: int = 0
    from_siphon: bool = False
    from_schedule: bool = False
    last_known: int | None = None


@dataclass
class Transmission:
    """A6."""

    enemy_type: str
    turns_remaining: int
    from_siphon: bool = False
    from_schedule: bool = False


@dataclass
class Block:
    """A4. ``hides``: what a question hides; for the other types the type itself."""

    block_type: str
    spawn_count: int
    points: int = 0
    program: int | None = None

    @property
    def hides(self) -> str:
        return "data" if self.program is None else "program"


@dataclass
class Game:
    """The complete state of a game."""

    player: int = 0
    hp: int = 3
    credits: int = 0
    energy: int = 0
    data_siphons: int = 0
    attack_damage: int = 1
    score: int = 0
    owned_programs: set[int] = field(default_factory=set)
    enemies: dict[int, Enemy] = field(default_factory=dict)
    transmissions: dict[int, Transmission] = field(default_factory=dict)
    blocks: dict[int, Block] = field(default_factory=dict)
    cell_credits: list[int] = field(default_factory=lambda: [0] * 36)
    cell_energy: list[int] = field(default_factory=lambda: [0] * 36)
    pickups: set[int] = field(default_factory=set)
    exit: int = 35
    siphoned: set[int] = field(default_factory=set)
    siphon_centers: set[int] = field(default_factory=set)
    stage: int = 1
    turn: int = 0
    show_activated: bool = False
    scheduled_tasks_disabled: bool = False
    step_active: bool = False
    atk_plus_uses: int = 0
    scheduled_task_interval: int = 12
    next_scheduled_task_turn: int = 12
    pending_siphon_transmissions: int = 0
    closest_approach: int = 0
    seed: int = 0
    event_number: int = 0
    history: "Game | None" = None
    kills_since_history: int = 0
    pickups_since_history: int = 0

    def occupied(self) -> set[int]:
        """Cells that hold an enemy or a transmission."""
        return {*self.enemies, *self.transmissions}

    def distance(self) -> int | None:
        """Path distance to the exit, None without a path (W1)."""
        return path_lengths(self.exit, set(self.blocks) - {self.player}).get(self.player)


# The keys of S that are attributes of a game, by the same name in snake case.
PLAYER_KEYS = ("hp", "credits", "energy", "dataSiphons", "attackDamage", "score")
GAME_KEYS = (
    *("stage", "turn", "showActivated", "scheduledTasksDisabled", "stepActive", "atkPlusUses"),
    *("scheduledTaskInterval", "nextScheduledTaskTurn", "pendingSiphonTransmissions"),
)
OWN_KEYS = ("seed", "eventNumber", "killsSinceHistory", "pickupsSinceHistory")
"""Those that a history lacks."""


def _attribute(key: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", key)


def _values(game: Game, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: getattr(game, _attribute(key)) for key in keys}


def _at(cell: int) -> dict[str, int]:
    return {"row": row(cell), "col": col(cell)}


def _cell(entry: dict[str, Any]) -> int:
    return int(6 * entry["row"] + entry["col"])


def _dump_mover(cell: int, mover: Enemy | Transmission) -> dict[str, Any]:
    origin = {"spawnedFromSiphon": mover.from_siphon, "isFromScheduledTask": mover.from_schedule}
    if isinstance(mover, Transmission):
        return _at(cell) | origin | {"turnsRemaining": mover.turns_remaining, "enemyType": mover.enemy_type}
    known = mover.last_known
    seen = {} if known is None else {"lastKnownRow": row(known), "lastKnownCol": col(known)}
    state = {"type": mover.enemy_type, "hp": mover.hp, "stunned": mover.stunned, "disabledTurns": mover.disabled_turns}
    return _at(cell) | origin | state | seen


def _dump_block(game: Game, cell: int) -> dict[str, Any]:
    block = game.blocks[cell]
    content = {"points": block.points} if block.hides == "data" else {"programActionIndex": block.program}
    siphoned = {"siphoned": cell in game.siphoned}
    return _at(cell) | content | {"type": block.block_type, "spawnCount": block.spawn_count} | siphoned


def _dump_resource(game: Game, cell: int) -> dict[str, Any]:
    amounts = {"credits": game.cell_credits[cell], "energy": game.cell_energy[cell]}
    return _at(cell) | amounts | {"dataSiphon": cell in game.pickups}


def dump(game: Game) -> dict[str, Any]:
    """The dict S in full form, lists in row-major order."""
    filled = [cell for cell in CELLS if game.cell_credits[cell] or game.cell_energy[cell] or cell in game.pickups]
    return {
        "player": _at(game.player) | _values(game, PLAYER_KEYS),
        "enemies": [_dump_mover(*entry) for entry in sorted(game.enemies.items())],
        "transmissions": [_dump_mover(*entry) for entry in sorted(game.transmissions.items())],
        "blocks": [_dump_block(game, cell) for cell in sorted(game.blocks)],
        "resources": [_dump_resource(game, cell) for cell in filled],
        "siphoned": [_at(cell) for cell in sorted(game.siphoned)],
        "siphonCenters": [_at(cell) for cell in sorted(game.siphon_centers)],
        "exit": _at(game.exit),
        "ownedPrograms": sorted(game.owned_programs),
        **_values(game, (*GAME_KEYS, "closestApproach")),
    }


def dump_whole(game: Game) -> dict[str, Any]:
    """``dump`` with seed, event number and history."""
    return dump(game) | _values(game, OWN_KEYS) | {"history": None if game.history is None else dump(game.history)}


def _load_enemy(entry: dict[str, Any]) -> Enemy:
    stunned, disabled = entry.get("stunned", False), entry.get("disabledTurns", 0)
    enemy = Enemy(entry["type"], entry["hp"], stunned, disabled, **_origin(entry))
    if enemy.enemy_type == "cryptog":
        row_known, col_known = entry.get("lastKnownRow", entry["row"]), entry.get("lastKnownCol", entry["col"])
        enemy.last_known = 6 * row_known + col_known
    return enemy


def _origin(entry: dict[str, Any]) -> dict[str, bool]:
    keys = {"from_siphon": "spawnedFromSiphon", "from_schedule": "isFromScheduledTask"}
    return {name: entry.get(key, False) for name, key in keys.items()}


def _load_block(entry: dict[str, Any]) -> Block:
    program = entry.get("programActionIndex")
    if program is None and "programType" in entry:
        program = ACTION[entry["programType"]]
    points = entry.get("points", 5) if program is None else 0
    default_spawn = points if program is None else SPAWN[program]
    return Block(entry["type"], entry.get("spawnCount", default_spawn), points, program)


def load(state: dict[str, Any]) -> Game:
    """The game of a valid dict S, defaults filled in."""
    interval = state.get("scheduledTaskInterval", 13 - state.get("stage", 1))
    timed = {"scheduledTaskInterval": interval, "nextScheduledTaskTurn": interval} | state
    given = [(state["player"], PLAYER_KEYS), (timed, GAME_KEYS), (state, OWN_KEYS)]
    blocks = state.get("blocks", [])
    game = Game(
        player=_cell(state["player"]),
        owned_programs=set(state.get("ownedPrograms", [])),
        enemies={_cell(entry): _load_enemy(entry) for entry in state.get("enemies", [])},
        transmissions={
            _cell(entry): Transmission(entry["enemyType"], entry["turnsRemaining"], **_origin(entry))
            for entry in state.get("transmissions", [])
        },
        blocks={_cell(entry): _load_block(entry) for entry in blocks},
        exit=_cell(state.get("exit", {"row": 5, "col": 5})),
        siphoned={_cell(entry) for entry in state.get("siphoned", [])}
        | {_cell(entry) for entry in blocks if entry.get("siphoned", False)},
        siphon_centers={_cell(entry) for entry in state.get("siphonCenters", [])},
        **{_attribute(key): holder[key] for holder, keys in given for key in keys if key in holder},
    )
    for entry in state.get("resources", []):
        cell = _cell(entry)
        game.cell_credits[cell] = entry.get("credits", 0)
        game.cell_energy[cell] = entry.get("energy", 0)
        game.pickups |= {cell} if entry.get("dataSiphon", False) else set()
    closest = state.get("closestApproach")
    game.closest_approach = (game.distance() or 0) if closest is None else closest
    history = state.get("history")
    game.history = None if history is None else load(history)
    return game
