"""A board as a picture of 900x640 pixels, drawn off screen: no window and no display is needed."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hackmatrix.cells import Cell, cells_of, content_of, is_dead, is_won, owned_programs
from hackmatrix.render.colours import BLOCKS, CREDITS, ENEMIES, ENERGY, PICKUP, SPAWN, STUN
from hackmatrix.render.words import ENEMY_LETTERS, EXIT, HIDDEN_CONTENT, LAST_KNOWN, PLAYER
from hackmatrix.rules import MAX_ATTACK, MAX_HP, NUM_STAGES, PROGRAMS, SIZE
from rlparity import State
from rlworldkit.render.colours import AGENT, BAD, DARK, FLOOR, GOOD, GROUND, LINE, MUTED, OFF, TEXT, Colour, mix
from rlworldkit.render.pen import Pen, Point, pixels

WIDTH, HEIGHT = 900, 640
"""Pixels of every picture."""

_CELL = 98
_LEFT, _TOP = 34, 14
_PANEL_LEFT = 652
_PANEL_WIDTH = WIDTH - 24 - _PANEL_LEFT

_SIPHONED_FLOOR = (20, 24, 32)
_OFF_TEXT = (70, 79, 97)
_FAINT = 90  # of 255

_HEXAGON = tuple((math.cos(corner * math.pi / 3), math.sin(corner * math.pi / 3)) for corner in range(6))
_STAR = tuple(
    (length * math.sin(point * math.pi / 5), -length * math.cos(point * math.pi / 5))
    for point, length in enumerate((1, 0.45) * 5)
)
_BOLT = ((0.3, -1), (-0.65, 0.2), (-0.05, 0.2), (-0.3, 1), (0.65, -0.25), (0.05, -0.25))
_ENEMY_SHAPES: dict[str, Sequence[Point]] = {
    "virus": ((0, -1), (1.1, 0.75), (-1.1, 0.75)),
    "daemon": ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    "glitch": _HEXAGON,
    "cryptog": ((0, -1), (1, 0), (0, 1), (-1, 0)),
}


def cell_area(row: int, col: int) -> tuple[slice, slice]:
    """Return the rows and columns of pixels of a cell in the array of ``draw_picture``."""
    left, top = _LEFT + _CELL * col, _TOP + _CELL * (SIZE - 1 - row)
    return slice(top, top + _CELL), slice(left, left + _CELL)


def draw_picture(state: State) -> NDArray[np.uint8]:
    """The picture of a complete state as RGB: uint8 (640, 900, 3), board at the left and status at the right.

    Row 5 is on top (A1). As in O4, question blocks hide their content, and unsiphoned blocks hide the amounts
    under them; hidden cryptogs, and the types of transmissions without SHOW, are faint.
    """
    pen = Pen.on((WIDTH, HEIGHT), GROUND)
    for cell in cells_of(state):
        rows, cols = cell_area(cell.row, cell.col)
        _draw_cell(pen.moved(cols.start, rows.start), cell)
    for number in range(SIZE):
        rows, cols = cell_area(number, number)
        pen.text(str(number), (_LEFT / 2, rows.start + _CELL / 2), 17, MUTED)
        pen.text(str(number), (cols.start + _CELL / 2, _TOP + SIZE * _CELL + 16), 17, MUTED)
    _draw_panel(pen, state)
    return pixels(pen.finished())


def _draw_cell(pen: Pen, cell: Cell) -> None:
    """Draw a cell: a fixture fills it, a being is above the middle, and items are along the lower edge."""
    occupied = cell.player or cell.enemy is not None or cell.transmission is not None
    pen.box((1, 1), (_CELL - 2, _CELL - 2), _SIPHONED_FLOOR if cell.siphoned else FLOOR, radius=6)
    if cell.block:
        _draw_block(pen, cell, occupied)
    elif cell.siphoned:
        _draw_hatch(pen, LINE)
    if cell.exit:
        _draw_exit(pen, occupied)
    if cell.resource["dataSiphon"]:
        _draw_pickup(pen, (80, 19) if occupied else (49, 40), 10 if occupied else 19)
    if cell.siphon_center:
        pen.circle((49, 85), 7, MUTED, 2)
        pen.circle((49, 85), 2.5, MUTED)
    if cell.amounts_shown:
        _draw_amounts(pen, cell)
    if cell.last_known:
        pen.text(LAST_KNOWN.upper(), (19, 18), 20, mix(ENEMIES["cryptog"], FLOOR, 0.35))
    if cell.enemy and cell.enemy_hidden:
        layer = pen.layer((_CELL, _CELL))
        _draw_enemy(layer, cell.enemy)
        pen.lay(layer, _FAINT)
    elif cell.enemy:
        _draw_enemy(pen, cell.enemy)
    if cell.transmission:
        _draw_transmission(pen, cell.transmission, is_hidden=cell.transmission_hidden)
    if cell.player:
        pen.circle((49, 37), 25, mix(AGENT, FLOOR, 0.65))
        pen.circle((49, 37), 21, AGENT)
        pen.text(PLAYER, (49, 36), 32, DARK)


def _draw_hatch(pen: Pen, colour: Colour) -> None:
    for start in range(12, 2 * _CELL - 12, 14):
        low, high = max(5, start - _CELL + 5), min(_CELL - 5, start - 5)
        pen.line((low, start - low), (high, start - high), colour)


def _draw_block(pen: Pen, cell: Cell, occupied: bool) -> None:
    assert cell.block is not None
    fill, edge = BLOCKS[cell.block["type"]]
    if cell.siphoned:
        fill, edge = mix(fill, _SIPHONED_FLOOR, 0.75), mix(edge, _SIPHONED_FLOOR, 0.5)
    text = mix(edge, TEXT, 0.35 if cell.siphoned else 0.7)
    pen.box((4, 4), (_CELL - 8, _CELL - 8), fill, radius=8)
    if cell.siphoned:
        _draw_hatch(pen, mix(fill, edge, 0.3))
    pen.box((4, 4), (_CELL - 8, _CELL - 8), edge, width=2, radius=8)
    is_question = cell.block["type"] == "question"
    label = HIDDEN_CONTENT if is_question else content_of(cell.block)
    if occupied:
        pen.text(label, (49, 71), 20, text)
    else:
        pen.text(label, (49, 49), 26 if cell.block["type"] == "program" else 46, text, fit=78)
    if cell.block["spawnCount"] and not is_question:
        colour = mix(SPAWN, fill, 0.6) if cell.siphoned else SPAWN
        pen.text(f"+{cell.block['spawnCount']}", (89, 17), 21, colour, align="right")


def _draw_exit(pen: Pen, occupied: bool) -> None:
    pen.box((4, 4), (_CELL - 8, _CELL - 8), mix(GOOD, FLOOR, 0.82), radius=8)
    pen.box((4, 4), (_CELL - 8, _CELL - 8), GOOD, width=3, radius=8)
    pen.text(EXIT, (49, 70 if occupied else 42), 17 if occupied else 28, GOOD)


def _draw_pickup(pen: Pen, centre: Point, radius: float) -> None:
    """Draw a data siphon: a hexagonal ring with a hexagon inside."""
    for share, colour in ((1, PICKUP), (0.62, FLOOR), (0.34, PICKUP)):
        _draw_shape(pen, _HEXAGON, centre, radius * share, colour)


def _draw_amounts(pen: Pen, cell: Cell) -> None:
    if credits := cell.resource["credits"]:
        _draw_coin(pen, (17, 84), 8)
        pen.text(str(credits), (28, 85), 22, CREDITS, align="left")
    if energy := cell.resource["energy"]:
        _draw_shape(pen, _BOLT, (69, 84), 8, ENERGY)
        pen.text(str(energy), (78, 85), 22, ENERGY, align="left")


def _draw_coin(pen: Pen, centre: Point, radius: float) -> None:
    pen.circle(centre, radius, CREDITS)
    pen.text("$", (centre[0], centre[1] + 0.5), round(radius * 1.9), DARK)


def _draw_enemy(pen: Pen, enemy: State) -> None:
    kind, hp, disabled = enemy["type"], enemy["hp"], enemy["disabledTurns"]
    colour = ENEMIES[kind]
    _draw_shape(pen, _ENEMY_SHAPES[kind], (49, 33), 29, DARK)
    _draw_shape(pen, _ENEMY_SHAPES[kind], (49, 33), 26, colour)
    pen.text(ENEMY_LETTERS[kind], (49, 35), 27, DARK)
    for pip in range(hp):
        x = 49 + 11 * (pip - (hp - 1) / 2)
        pen.circle((x, 59), 5, DARK)
        pen.circle((x, 59), 4, colour)
    if enemy["stunned"]:
        _draw_shape(pen, _STAR, (17, 40), 9, STUN)
    if disabled:
        pen.text(f"~{disabled}", (94, 36), 20, TEXT, align="right", fit=19)


def _draw_transmission(pen: Pen, coming: State, *, is_hidden: bool) -> None:
    """Draw a transmission: colour and letter give its type, both faint while the player does not know it."""
    kind = coming["enemyType"]
    colour = mix(ENEMIES[kind], MUTED if is_hidden else FLOOR, 0.6 if is_hidden else 0.1)
    for part in range(12):
        start = part * math.pi / 6
        pen.arc((49, 35), 25, (start, start + math.pi / 10), colour, 2.5)
    pen.text(str(coming["turnsRemaining"]), (49, 36), 30, TEXT, fit=36)
    letter = mix(colour, FLOOR, 0.4) if is_hidden else colour
    pen.text(ENEMY_LETTERS[kind], (82, 57), 22, letter)


def _draw_shape(pen: Pen, shape: Sequence[Point], centre: Point, radius: float, colour: Colour) -> None:
    pen.polygon([(centre[0] + radius * x, centre[1] + radius * y) for x, y in shape], colour)


def _draw_panel(pen: Pen, state: State) -> None:
    for top, draw in (
        (14, _draw_stage),
        (92, _draw_hearts),
        (142, _draw_resources),
        (190, _draw_numbers),
        (264, _draw_flags),
        (314, _draw_programs),
    ):
        draw(pen.moved(_PANEL_LEFT, top), state)
    _draw_legend(pen.moved(_PANEL_LEFT, 574))


def _draw_stage(pen: Pen, state: State) -> None:
    title, colour = f"Stage {state['stage']} of {NUM_STAGES}", TEXT
    if is_won(state):
        title, colour = "Game won", GOOD
    elif is_dead(state):
        title, colour = f"Died in stage {state['stage']}", BAD
    pen.text(title, (0, 16), 32, colour, align="left")
    step = (_PANEL_WIDTH + 4) / NUM_STAGES
    for stage in range(1, NUM_STAGES + 1):
        lit = GOOD if stage < state["stage"] else TEXT if stage == state["stage"] else OFF
        pen.box((step * (stage - 1), 42), (step - 4, 8), lit, radius=3)


def _draw_hearts(pen: Pen, state: State) -> None:
    for heart in range(MAX_HP):
        here, colour = pen.moved(14 + 34 * heart, 14), BAD if heart < state["player"]["hp"] else OFF
        for x in (-6.5, 6.5):
            here.circle((x, -4.55), 7.28, colour)
        here.polygon([(-12.74, -1.3), (12.74, -1.3), (0, 13)], colour)
    pen.text("attack", (_PANEL_WIDTH - 58, 14), 19, MUTED, align="right")
    for point in range(MAX_ATTACK):
        colour = SPAWN if point < state["player"]["attackDamage"] else OFF
        x = _PANEL_WIDTH - 48 + 18 * point
        pen.polygon([(x, 4), (x + 12, 14), (x, 24)], colour)


def _draw_resources(pen: Pen, state: State) -> None:
    column, player = _PANEL_WIDTH / 3, state["player"]
    _draw_coin(pen, (12, 14), 11)
    pen.text(str(player["credits"]), (28, 15), 28, CREDITS, align="left")
    _draw_shape(pen, _BOLT, (column + 12, 14), 12, ENERGY)
    pen.text(str(player["energy"]), (column + 25, 15), 28, ENERGY, align="left")
    _draw_pickup(pen, (2 * column + 12, 14), 11)
    pen.text(str(player["dataSiphons"]), (2 * column + 28, 15), 28, PICKUP, align="left")


def _draw_numbers(pen: Pen, state: State) -> None:
    spawn = "none" if state["scheduledTasksDisabled"] else str(state["nextScheduledTaskTurn"])
    numbers = ("score", str(state["player"]["score"])), ("turn", str(state["turn"])), ("next spawn", spawn)
    for line, (name, value) in enumerate(numbers):
        pen.text(name, (0, 10 + 22 * line), 20, MUTED, align="left")
        pen.text(value, (_PANEL_WIDTH, 10 + 22 * line), 23, TEXT, align="right")


def _draw_flags(pen: Pen, state: State) -> None:
    words = {"SHOW": "showActivated", "CALM": "scheduledTasksDisabled", "STEP": "stepActive"}
    _draw_chips(pen, {name: state[word] for name, word in words.items()}, STUN)


def _draw_programs(pen: Pen, state: State) -> None:
    """Draw every program in its own place, in the order of table P; owned programs are lit."""
    pen.text("Programs", (0, 8), 20, MUTED, align="left")
    owned = owned_programs(state)
    pen.text(f"{len(owned)} of {len(PROGRAMS)}", (_PANEL_WIDTH, 8), 20, MUTED, align="right")
    _draw_chips(pen.moved(0, 22), {name: name in owned for name in PROGRAMS}, BLOCKS["program"][1])


def _draw_chips(pen: Pen, chips: Mapping[str, bool], colour: Colour) -> None:
    width = (_PANEL_WIDTH - 12) / 3
    for place, (text, lit) in enumerate(chips.items()):
        row, col = divmod(place, 3)
        chip = pen.moved(col * (width + 6), 28 * row)
        chip.box((0, 0), (width, 23), colour if lit else OFF, width=0 if lit else 1, radius=5)
        chip.text(text, (width / 2, 12), 19, DARK if lit else _OFF_TEXT)


def _draw_legend(pen: Pen) -> None:
    step = _PANEL_WIDTH / len(ENEMIES)
    for place, (enemy_type, colour) in enumerate(ENEMIES.items()):
        x = step * (place + 0.5)
        _draw_shape(pen, _ENEMY_SHAPES[enemy_type], (x, 12), 11, colour)
        pen.text(enemy_type, (x, 34), 17, MUTED)
