"""What a person can be shown of a state: the 36 cells and the numbers beside them (A3-A7, O4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hackmatrix.rules import ACTIONS

SIZE = 6
"""Rows and columns of a board (A1)."""
STAGES = 8
"""Stages of a game; a state in stage 9 is won (C3)."""
MAX_HP = 3
MAX_ATTACK = 3
PROGRAMS = ACTIONS[5:]
"""The 23 programs in the order of table P."""


@dataclass(frozen=True, slots=True)
class Enemy:
    """An enemy (A5); ``hidden`` is true of a cryptog that the player does not see (O4)."""

    kind: str
    hp: int
    stunned: bool
    disabled: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class Transmission:
    """A coming enemy (A6); ``kind_hidden`` is true while the player does not know its type (O4)."""

    kind: str
    turns: int
    kind_hidden: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A block (A4): it holds ``points`` or a ``program`` (its name); ``question`` hides that and ``spawn`` (O4)."""

    points: int | None
    program: str | None
    spawn: int
    question: bool
    siphoned: bool


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
    centre: bool = False
    last_known: bool = False

    @property
    def amounts_shown(self) -> bool:
        """Whether the player sees credits and energy here (O4): a block covers them until the cell is siphoned."""
        return self.block is None or self.siphoned


@dataclass(frozen=True, slots=True)
class BoardModel:
    """One board and its status. ``cells`` has 36 entries in row-major order, row 0 (the bottom one) first (A1)."""

    cells: tuple[Cell, ...]
    hp: int
    credits: int
    energy: int
    data_siphons: int
    attack: int
    score: int
    stage: int
    turn: int
    next_scheduled_turn: int
    show: bool
    calm: bool
    step: bool
    programs: tuple[str, ...]

    def cell(self, row: int, col: int) -> Cell:
        """The cell of this row and column, both 0-5."""
        return self.cells[SIZE * row + col]

    @property
    def won(self) -> bool:
        """Whether the game is won (C3)."""
        return self.stage > STAGES

    @property
    def dead(self) -> bool:
        """Whether the player has died (C4)."""
        return self.hp == 0


def board_model(state: Mapping[str, Any]) -> BoardModel:
    """The model of a complete state dict (``S`` of the protocol), as both engines' ``get_state`` gives it.

    The model tells what a state holds and, beside it, what of that the player does not see (O4): hidden
    cryptogs, the types of transmissions without SHOW, what question blocks hold, amounts under blocks.

    Raises:
        KeyError: the dict is not a complete state.
    """
    player = state["player"]
    show = state["showActivated"]
    cells: list[dict[str, Any]] = [{} for _ in range(SIZE * SIZE)]

    def put(place: Mapping[str, Any], **what: Any) -> None:  # noqa: ANN401 - the fields of a Cell
        cells[SIZE * place["row"] + place["col"]].update(what)

    put(player, player=True)
    for enemy in state["enemies"]:
        seen = show or enemy["row"] == player["row"] or enemy["col"] == player["col"]
        hidden = enemy["type"] == "cryptog" and not seen
        put(enemy, enemy=Enemy(enemy["type"], enemy["hp"], enemy["stunned"], enemy["disabledTurns"], hidden))
        if hidden:
            put({"row": enemy["lastKnownRow"], "col": enemy["lastKnownCol"]}, last_known=True)
    for coming in state["transmissions"]:
        put(coming, transmission=Transmission(coming["enemyType"], coming["turnsRemaining"], not show))
    for block in state["blocks"]:
        put(block, block=_block(block))
    for resource in state["resources"]:
        put(resource, credits=resource["credits"], energy=resource["energy"], pickup=resource["dataSiphon"])
    put(state["exit"], exit=True)
    for cell in state["siphoned"]:
        put(cell, siphoned=True)
    for cell in state["siphonCenters"]:
        put(cell, centre=True)
    return BoardModel(
        cells=tuple(Cell(*divmod(index, SIZE), **what) for index, what in enumerate(cells)),
        hp=player["hp"],
        credits=player["credits"],
        energy=player["energy"],
        data_siphons=player["dataSiphons"],
        attack=player["attackDamage"],
        score=player["score"],
        stage=state["stage"],
        turn=state["turn"],
        next_scheduled_turn=state["nextScheduledTaskTurn"],
        show=show,
        calm=state["scheduledTasksDisabled"],
        step=state["stepActive"],
        programs=tuple(ACTIONS[action] for action in sorted(state["ownedPrograms"])),
    )


def _block(block: Mapping[str, Any]) -> Block:
    program = ACTIONS[block["programActionIndex"]] if "programActionIndex" in block else None
    points, question = block.get("points"), block["type"] == "question"
    return Block(points, program, block["spawnCount"], question, block["siphoned"])
