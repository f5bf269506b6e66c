"""The cells of a state as they are shown, and what of them the player does not see (A3-A6, O4).

Text, pictures, explanations and the reports of the harness all draw from these.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hackmatrix.cells import Place
from hackmatrix.rules import ACTIONS, NUM_CELLS, SIZE, WON_STAGE


@dataclass(frozen=True, slots=True)
class Enemy:
    """An enemy (A5); ``hidden`` is true of a cryptog that the player does not see (O4)."""

    type: str
    hp: int
    stunned: bool = False
    disabled_turns: int = 0
    from_siphon: bool = False
    from_schedule: bool = False
    last_known: Place | None = None
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Transmission:
    """A coming enemy (A6); ``type_hidden`` is true while the player does not know its type (O4)."""

    type: str
    turns_remaining: int
    from_siphon: bool = False
    from_schedule: bool = False
    type_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A block (A4): ``content`` is a number of points or a program's name, which a question hides from the player."""

    type: str
    content: int | str
    spawn_count: int


@dataclass(frozen=True, slots=True)
class Cell:
    """Everything in one cell (A3); ``last_known`` marks where the player saw a cryptog last that is hidden now."""

    row: int
    col: int
    player: bool = False
    enemy: Enemy | None = None
    transmission: Transmission | None = None
    block: Block | None = None
    credits: int = 0
    energy: int = 0
    pickup: bool = False
    exit: bool = False
    siphoned: bool = False
    siphon_center: bool = False
    last_known: bool = False

    @property
    def amounts_shown(self) -> bool:
        """Return whether the player sees the amounts here (O4): a block covers them until the cell is siphoned."""
        return self.block is None or self.siphoned


def is_won(state: Mapping[str, Any]) -> bool:
    """Whether the game is won (C3)."""
    return bool(state["stage"] == WON_STAGE)


def is_dead(state: Mapping[str, Any]) -> bool:
    """Whether the player has died (C4)."""
    return bool(state["player"]["hp"] == 0)


def owned_programs(state: Mapping[str, Any]) -> list[str]:
    """Their names, in the order of table P."""
    return [ACTIONS[action] for action in sorted(state["ownedPrograms"])]


def rows_of(state: Mapping[str, Any]) -> list[tuple[Cell, ...]]:
    """The rows of ``cells_of`` as they are drawn: the top one first."""
    cells = cells_of(state)
    return [cells[SIZE * row : SIZE * (row + 1)] for row in reversed(range(SIZE))]


_cell = lru_cache(maxsize=2**16)(Cell)
"""Cells are values, and most of them stay as they are from step to step: making them anew is what would take long."""


def cells_of(state: Mapping[str, Any]) -> tuple[Cell, ...]:
    """The cells of a complete state (``S`` of the protocol) in row-major order, row 0 (the bottom one) first (A1)."""
    player, show = state["player"], state["showActivated"]
    cells: list[dict[str, Any]] = [{} for _ in range(NUM_CELLS)]

    def put(place: Mapping[str, Any], **what: Any) -> None:  # noqa: ANN401 - the fields of a Cell
        cells[SIZE * place["row"] + place["col"]].update(what)

    put(player, player=True)
    for entry in state["enemies"]:
        seen = show or entry["row"] == player["row"] or entry["col"] == player["col"]
        known = (entry["lastKnownRow"], entry["lastKnownCol"]) if "lastKnownRow" in entry else None
        hidden = entry["type"] == "cryptog" and not seen
        condition = entry["hp"], entry["stunned"], entry["disabledTurns"], *_origin(entry)
        put(entry, enemy=Enemy(entry["type"], *condition, known, hidden))
        if hidden and known:
            put({"row": known[0], "col": known[1]}, last_known=True)
    for entry in state["transmissions"]:
        put(entry, transmission=Transmission(entry["enemyType"], entry["turnsRemaining"], *_origin(entry), not show))
    for entry in state["blocks"]:
        content = entry["points"] if "points" in entry else ACTIONS[entry["programActionIndex"]]
        put(entry, block=Block(entry["type"], content, entry["spawnCount"]))
    for entry in state["resources"]:
        put(entry, credits=entry["credits"], energy=entry["energy"], pickup=entry["dataSiphon"])
    put(state["exit"], exit=True)
    for place in state["siphoned"]:
        put(place, siphoned=True)
    for place in state["siphonCenters"]:
        put(place, siphon_center=True)
    return tuple(_cell(*divmod(index, SIZE), **what) for index, what in enumerate(cells))


def _origin(being: Mapping[str, Any]) -> tuple[bool, bool]:
    return being["spawnedFromSiphon"], being["isFromScheduledTask"]
