"""Cells of the board by row and column (A1, A2), and what a state has in them, for display (A3-A6, O4)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hackmatrix.rules import ACTIONS, DIRECTIONS, SIZE, WON_STAGE
from rlparity import State

Place = tuple[int, int]
"""(row, col)"""
CELLS: tuple[Place, ...] = tuple(product(range(SIZE), range(SIZE)))
"""All cells in row-major order (A1)."""
_NOTHING = {"credits": 0, "energy": 0, "dataSiphon": False}


def place_of(entry: Mapping[str, Any]) -> Place:
    """The cell of an entry of a state."""
    return entry["row"], entry["col"]


def places(entries: Iterable[Mapping[str, Any]]) -> set[Place]:
    """The cells of entries of a state."""
    return {place_of(entry) for entry in entries}


def around(place: Place) -> list[Place]:
    """The orthogonal neighbours on the board, in direction order (A2)."""
    row, col = place
    return [near for up, right in DIRECTIONS if (near := (row + up, col + right)) in CELLS]


def cell_name(place: Place) -> str:
    """A cell in words: ``(row,col)``."""
    return "({},{})".format(*place)


@dataclass(slots=True)
class Cell:
    """Everything in one cell (A3): entries of the state, with flags for what the player does not see (O4).

    enemy_hidden: the enemy is a cryptog out of sight. transmission_hidden: the player does not know the type.
    last_known: the player saw a cryptog here last that is hidden now.
    """

    row: int
    col: int
    player: bool = False
    enemy: State | None = None
    enemy_hidden: bool = False
    transmission: State | None = None
    transmission_hidden: bool = False
    block: State | None = None
    resource: State = field(default_factory=lambda: _NOTHING)
    exit: bool = False
    siphoned: bool = False
    siphon_center: bool = False
    last_known: bool = False

    @property
    def amounts_shown(self) -> bool:
        """Return whether the player sees the amounts here (O4): a block covers them until the cell is siphoned."""
        return self.block is None or self.siphoned


def content_of(block: State) -> str:
    """The points or the program's name that a block holds (A4), which a question hides from the player."""
    return str(block["points"]) if "points" in block else ACTIONS[block["programActionIndex"]]


def is_won(state: State) -> bool:
    """Whether the game is won (C3)."""
    return bool(state["stage"] == WON_STAGE)


def is_dead(state: State) -> bool:
    """Whether the player has died (C4)."""
    return bool(state["player"]["hp"] == 0)


def owned_programs(state: State) -> list[str]:
    """Names of the owned programs, in the order of table P."""
    return [ACTIONS[action] for action in sorted(state["ownedPrograms"])]


def rows_of(state: State) -> list[list[Cell]]:
    """The rows of ``cells_of`` in drawing order: the top row first."""
    cells = cells_of(state)
    return [cells[SIZE * row : SIZE * (row + 1)] for row in reversed(range(SIZE))]


def cells_of(state: State) -> list[Cell]:
    """The cells of a complete state (``S`` of the protocol) in row-major order, row 0 (the bottom one) first (A1)."""
    player, show = state["player"], state["showActivated"]
    cells = [Cell(*place) for place in CELLS]

    def at(entry: State, row: str = "row", col: str = "col") -> Cell:
        return cells[SIZE * entry[row] + entry[col]]

    at(player).player = True
    for enemy in state["enemies"]:
        seen = show or enemy["row"] == player["row"] or enemy["col"] == player["col"]
        at(enemy).enemy, at(enemy).enemy_hidden = enemy, enemy["type"] == "cryptog" and not seen
        if at(enemy).enemy_hidden and "lastKnownRow" in enemy:
            at(enemy, "lastKnownRow", "lastKnownCol").last_known = True
    for coming in state["transmissions"]:
        at(coming).transmission, at(coming).transmission_hidden = coming, not show
    for block in state["blocks"]:
        at(block).block = block
    for resource in state["resources"]:
        at(resource).resource = resource
    at(state["exit"]).exit = True
    for place in state["siphoned"]:
        at(place).siphoned = True
    for place in state["siphonCenters"]:
        at(place).siphon_center = True
    return cells
