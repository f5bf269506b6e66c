"""The grid around the agent as it is drawn, with the agent in the middle and its field of view framed."""

from __future__ import annotations

from goodharts.brain_view.player import HORIZON, ActivationFrame
from goodharts.render.colours import POISON_COLOUR
from goodharts.render.signs import draw_arrow, draw_death, draw_items
from goodharts.render.surroundings import around
from goodharts.rules import REACH, SIZE, VIEW
from worldkit.render.colours import AGENT, DARK, FLOOR, GROUND, MUTED, TEXT, mix
from worldkit.render.pen import Pen, Point

CELL = 18
SIDE = (2 * HORIZON + 1) * CELL
"""Pixels of the whole."""
_MIDDLE = (HORIZON + 0.5) * CELL
_FAR = mix(GROUND, FLOOR, 0.45)
_NEAR = mix(FLOOR, TEXT, 0.06)
_SEAM = mix(FLOOR, MUTED, 0.75)


def draw_surroundings(pen: Pen, moment: ActivationFrame) -> None:
    """31×31 cells. The dashed lines are where the torus closes: beyond them come its other rows and columns (G1)."""
    pen.box((0, 0), (SIDE, SIDE), _FAR, radius=6)
    first, size = (HORIZON - REACH) * CELL, VIEW * CELL
    pen.box((first, first), (size, size), _NEAR)
    for place in range(CELL, SIDE, CELL):
        pen.line((place, 0), (place, SIDE), GROUND, 1)
        pen.line((0, place), (SIDE, place), GROUND, 1)
    _draw_seams(pen, moment)
    _draw_trail(pen, moment)
    draw_items(pen, around(moment.state, HORIZON), CELL, 6)
    pen.box((first - 1, first - 1), (size + 2, size + 2), mix(AGENT, _NEAR, 0.25), width=2, radius=3)
    _draw_agent(pen, moment)
    if moment.news:
        _draw_news(pen, moment)


def _centre(right: int, down: int) -> Point:
    """The middle of the cell that lies so many cells from the agent's."""
    return _MIDDLE + right * CELL, _MIDDLE + down * CELL


def _draw_seams(pen: Pen, moment: ActivationFrame) -> None:
    """Between the last column or row of the grid and the first, where they are in sight, with the numbers of both."""
    column, row = ((-at + HORIZON) % SIZE for at in moment.place)
    dashes = range(3, SIDE - 6, 12)
    if 0 < column <= 2 * HORIZON:
        x = column * CELL
        for y in dashes:
            pen.line((x, y), (x, y + 6), _SEAM, 1.5)
        pen.text(f"x {SIZE - 1}", (x - 5, 9), 15, MUTED, align="right")
        pen.text("x 0", (x + 5, 9), 15, MUTED, align="left")
    if 0 < row <= 2 * HORIZON:
        y = row * CELL
        for x in dashes:
            pen.line((x, y), (x + 6, y), _SEAM, 1.5)
        pen.text(f"y {SIZE - 1}", (5, y - 8), 15, MUTED, align="left")
        pen.text("y 0", (5, y + 9), 15, MUTED, align="left")


def _draw_trail(pen: Pen, moment: ActivationFrame) -> None:
    """Where the agent was, the fainter the longer ago."""
    inside = [(right, down) for right, down in moment.trail if max(abs(right), abs(down)) <= HORIZON]
    for number, place in enumerate(inside, start=1):
        share = number / len(inside)
        pen.circle(_centre(*place), 2 + 1.5 * share, mix(_NEAR, AGENT, 0.15 + 0.45 * share))


def _draw_agent(pen: Pen, moment: ActivationFrame) -> None:
    centre = _centre(0, 0)
    if moment.is_dead:
        pen.circle(centre, 12, DARK)
        pen.circle(centre, 12, TEXT, 2)
        draw_death(pen, centre, 6)
        return
    pen.circle(centre, 12, mix(AGENT, _NEAR, 0.65))
    pen.circle(centre, 10, AGENT)
    draw_arrow(pen, centre, moment.decision.action, 14, DARK)


def _draw_news(pen: Pen, moment: ActivationFrame) -> None:
    edge = TEXT if moment.is_dead else POISON_COLOUR if moment.ate_poison else AGENT
    width = 16 + 8.2 * len(moment.news)
    corner = (_MIDDLE - width / 2, (HORIZON + REACH + 1.5) * CELL)
    pen.box(corner, (width, 26), DARK, radius=13)
    pen.box(corner, (width, 26), edge, width=1.5, radius=13)
    pen.text(moment.news, (_MIDDLE, corner[1] + 13.5), 20, TEXT, fit=width - 16)
