"""A state as it is shown: the cells and the numbers beside them, and what of that the player does not see (A3-A7, O4).

Text, pictures, explanations and the reports of the harness all draw from this one model.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from hackmatrix.rules import ACTIONS, NUM_CELLS, SIZE, WON_STAGE

Place = tuple[int, int]
"""(row, col)"""


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


@dataclass(frozen=True, slots=True)
class BoardModel:
    """One board and its numbers, which are named as in the protocol's state S.

    cells: in row-major order, row 0 (the bottom one) first (A1).
    owned_programs: their names, in the order of table P.
    record_turn: the turn of the record that UNDO would bring back; None without a record.
    """

    cells: tuple[Cell, ...]
    owned_programs: tuple[str, ...]
    record_turn: int | None
    hp: int
    credits: int
    energy: int
    data_siphons: int
    attack_damage: int
    score: int
    stage: int
    turn: int
    show_activated: bool
    scheduled_tasks_disabled: bool
    step_active: bool
    atk_plus_uses: int
    scheduled_task_interval: int
    next_scheduled_task_turn: int
    pending_siphon_transmissions: int
    closest_approach: int
    kills_since_history: int
    pickups_since_history: int
    seed: int
    event_number: int

    def cell(self, row: int, col: int) -> Cell:
        """The cell of this row and column, both from 0."""
        return self.cells[SIZE * row + col]

    @property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """The rows of cells as they are drawn: the top one first."""
        return tuple(self.cells[SIZE * row : SIZE * (row + 1)] for row in reversed(range(SIZE)))

    @property
    def won(self) -> bool:
        """Return whether the game is won (C3)."""
        return self.stage == WON_STAGE

    @property
    def dead(self) -> bool:
        """Return whether the player has died (C4)."""
        return self.hp == 0


NUMBERS = {
    field.name: re.sub("_(.)", lambda found: found[1].upper(), field.name)
    for field in fields(BoardModel)
    if field.name not in ("cells", "owned_programs", "record_turn")
}
"""The numbers beside the board: field of the model -> the protocol's word for it."""


def board_model(state: Mapping[str, Any]) -> BoardModel:
    """The model of a complete state (``S`` of the protocol), as both engines' ``get_state`` gives it."""
    numbers = {**state, **state["player"]}
    return BoardModel(
        cells=_cells(state),
        owned_programs=tuple(ACTIONS[action] for action in sorted(state["ownedPrograms"])),
        record_turn=None if state["history"] is None else state["history"]["turn"],
        **{name: numbers[word] for name, word in NUMBERS.items()},
    )


_cell = lru_cache(maxsize=2**16)(Cell)
"""Cells are values, and most of them stay as they are from step to step: making them anew is what would take long."""


def _cells(state: Mapping[str, Any]) -> tuple[Cell, ...]:
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
