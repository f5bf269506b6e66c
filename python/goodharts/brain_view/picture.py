"""A moment as a picture of 1280x720 pixels, drawn off screen: no window and no display is needed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from goodharts.brain_view.layers import draw_layers, heat
from goodharts.brain_view.player import HORIZON, REMEMBERED, ActivationFrame
from goodharts.config import Config
from goodharts.models import Model
from goodharts.render.colours import FOOD_COLOUR, POISON_COLOUR
from goodharts.render.signs import direction, draw_arrow, draw_death, draw_food, draw_items, draw_poison
from goodharts.render.surroundings import around
from goodharts.rules import ACTIONS, MODES, REACH, SIZE, VIEW
from rlparity.core.prices import prices_note
from rlworldkit.render._pygame import pygame
from rlworldkit.render.colours import AGENT, DARK, FLOOR, GROUND, MUTED, OFF, TEXT, mix
from rlworldkit.render.pen import Pen, Point, pixels

WIDTH, HEIGHT = 1280, 720
"""Pixels of every picture; even, as videos want them."""

_CELL = 18
_SIDE = (2 * HORIZON + 1) * _CELL
"""Pixels of the grid around the agent."""
_MIDDLE = (HORIZON + 0.5) * _CELL
_FAR = mix(GROUND, FLOOR, 0.45)
_NEAR = mix(FLOOR, TEXT, 0.06)
_SEAM = mix(FLOOR, MUTED, 0.75)

_LEFT, _TOP = 24, 56
_RIGHT = WIDTH - 24
_BRAIN = _LEFT + _SIDE + 24
"""Left edge of the right half, which shows the inside of the agent."""
_CURVE_HEIGHT = 48
_NUMBERS = 124
_GUTTER = 34
_LAYERS_TOP = 276
_FOOT = 704
_PIXEL = 13
_CHANNEL_SIDE = VIEW * _PIXEL
"""Pixels of one channel."""
_BETWEEN = 14
_RADIUS = 58
"""Of the rose, where a probability is 1."""
_HALF_PETAL = math.radians(19)
_SIGNS = {"food": draw_food, "poison": draw_poison}


@dataclass(frozen=True)
class Caption:
    """Caption of every picture of an agent: its mode, and how it was trained."""

    mode: str
    origin: str

    @classmethod
    def of(cls, model: Model) -> Caption:
        """The caption of a trained agent."""
        prices = prices_note(Config().over(model.config, "The model").changed_prices(model.mode))
        trained = f"update {model.update:,}, {model.timesteps:,} steps of training{prices}"
        return cls(model.mode, f"{model.network.kind}, {trained}")


def draw_picture(moment: ActivationFrame, caption: Caption) -> NDArray[np.uint8]:
    """The picture of a moment as RGB: uint8 (720, 1280, 3)."""
    return pixels(draw_surface(moment, caption))


def draw_surface(moment: ActivationFrame, caption: Caption, hints: str = "") -> pygame.Surface:
    """The same as a surface: the grid at the left, the agent's inside at the right. hints: a line at the bottom."""
    pen = Pen.on((WIDTH, HEIGHT), GROUND)
    used = pen.text(caption.mode, (_LEFT, 29), 34, TEXT, align="left")
    pen.text(caption.origin, (_LEFT + used + 14, 31), 20, MUTED, align="left")
    _draw_surroundings(pen.moved(_LEFT, _TOP), moment)
    _draw_energies(pen.moved(_LEFT, _TOP + _SIDE + 12), moment)
    _draw_legend(pen.moved(_LEFT, _FOOT))
    _draw_sight(pen.moved(_BRAIN, _TOP), moment, caption.mode)
    _draw_numbers(pen.moved(_RIGHT - _NUMBERS, _TOP), moment)
    draw_layers(pen.moved(_BRAIN, _LAYERS_TOP), moment.activations[:-1], _RIGHT - _BRAIN, _FOOT - 12 - _LAYERS_TOP)
    pen.text(hints, (_RIGHT, _FOOT + 0.5), 18, MUTED, align="right")
    return pen.finished()


def _draw_surroundings(pen: Pen, moment: ActivationFrame) -> None:
    """31×31 cells. The dashed lines are where the torus closes: beyond them come its other rows and columns (G1)."""
    pen.box((0, 0), (_SIDE, _SIDE), _FAR, radius=6)
    first, size = (HORIZON - REACH) * _CELL, VIEW * _CELL
    pen.box((first, first), (size, size), _NEAR)
    for place in range(_CELL, _SIDE, _CELL):
        pen.line((place, 0), (place, _SIDE), GROUND, 1)
        pen.line((0, place), (_SIDE, place), GROUND, 1)
    _draw_seams(pen, moment)
    _draw_trail(pen, moment)
    draw_items(pen, around(moment.state, HORIZON), _CELL, 6)
    pen.box((first - 1, first - 1), (size + 2, size + 2), mix(AGENT, _NEAR, 0.25), width=2, radius=3)
    _draw_agent(pen, moment)
    if moment.news:
        _draw_news(pen, moment)


def _centre(right: int, down: int) -> Point:
    """The middle of the cell that lies so many cells from the agent's."""
    return _MIDDLE + right * _CELL, _MIDDLE + down * _CELL


def _draw_seams(pen: Pen, moment: ActivationFrame) -> None:
    """Between the last column or row of the grid and the first, where they are in sight, with the numbers of both."""
    column, row = ((-at + HORIZON) % SIZE for at in moment.place)
    dashes = range(3, _SIDE - 6, 12)
    if 0 < column <= 2 * HORIZON:
        x = column * _CELL
        for y in dashes:
            pen.line((x, y), (x, y + 6), _SEAM, 1.5)
        pen.text(f"x {SIZE - 1}", (x - 5, 9), 15, MUTED, align="right")
        pen.text("x 0", (x + 5, 9), 15, MUTED, align="left")
    if 0 < row <= 2 * HORIZON:
        y = row * _CELL
        for x in dashes:
            pen.line((x, y), (x + 6, y), _SEAM, 1.5)
        pen.text(f"y {SIZE - 1}", (5, y - 8), 15, MUTED, align="left")
        pen.text("y 0", (5, y + 9), 15, MUTED, align="left")


def _draw_trail(pen: Pen, moment: ActivationFrame) -> None:
    """Draw the agent's latest cells, the fainter the longer ago."""
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
    corner = (_MIDDLE - width / 2, (HORIZON + REACH + 1.5) * _CELL)
    pen.box(corner, (width, 26), DARK, radius=13)
    pen.box(corner, (width, 26), edge, width=1.5, radius=13)
    pen.text(moment.news, (_MIDDLE, corner[1] + 13.5), 20, TEXT, fit=width - 16)


def _draw_sight(pen: Pen, moment: ActivationFrame, mode: str) -> None:
    pen.text("What it sees", (0, 9), 20, TEXT, align="left")
    _draw_channels(pen.moved(0, 24), moment, mode)
    left = 2 * _CHANNEL_SIDE + 42
    pen.text("What it does next", (left, 9), 20, TEXT, align="left")
    _draw_rose(pen.moved(left + 86, 24 + _CHANNEL_SIDE / 2 + 8), moment)
    _draw_decision(pen.moved(left + 86, 24 + _CHANNEL_SIDE + 36), moment)


def _draw_channels(pen: Pen, moment: ActivationFrame, mode: str) -> None:
    """Both channels of the observation (G7), each from 0, dark, to 1, bright; the agent's own cell is framed."""
    sees_truth = MODES[mode].sees_truth
    for number, values in enumerate(moment.channels):
        here = pen.moved(number * (_CHANNEL_SIDE + _BETWEEN), 0)
        here.image(heat(values, 1.0), (0, 0), _PIXEL)
        corner = REACH * _PIXEL
        here.box((corner, corner), (_PIXEL, _PIXEL), AGENT, width=1.5)
        name = ("is food", "is poison")[number] if sees_truth else "interestingness"
        here.text(f"channel {number}: {name}", (_CHANNEL_SIDE / 2, _CHANNEL_SIDE + 13), 17, MUTED, fit=_CHANNEL_SIDE)


def _draw_rose(pen: Pen, moment: ActivationFrame) -> None:
    """A petal for each move around (0, 0), its area as large as its probability; the chosen one is bright."""
    for share in (0.25, 0.5, 1.0):
        pen.circle((0, 0), _RADIUS * math.sqrt(share), OFF, 1)
    for action, probability in enumerate(moment.decision.probabilities.tolist()):
        is_chosen = action == moment.decision.action and not moment.is_dead
        pen.polygon(_petal(action, _RADIUS * math.sqrt(probability)), AGENT if is_chosen else mix(AGENT, FLOOR, 0.62))
        right, down = direction(action)
        place = ((_RADIUS + 20) * right, (_RADIUS + 13) * down)
        percent = "<1%" if 0 < probability < 0.005 else f"{probability:.0%}"
        pen.text(percent, place, 19, TEXT if is_chosen else MUTED)
    pen.circle((0, 0), 3, TEXT)


def _draw_decision(pen: Pen, moment: ActivationFrame) -> None:
    """The move that comes next, with its middle at (0, 0)."""
    if moment.is_dead:
        pen.text("none: it is dead", (0, 0), 19, MUTED)
        return
    name = ACTIONS[moment.decision.action].replace("_", " and ")
    width = pen.text(name, (10, 0), 19, TEXT)
    draw_arrow(pen, (-width / 2 - 4, 0), moment.decision.action, 15, AGENT)


def _draw_legend(pen: Pen) -> None:
    """Explain the signs on the grid, from (0, 0) to the right."""
    draw_food(pen, (6, 0), 5.5)
    draw_poison(pen, (72, 0), 5)
    pen.box((146, -6), (12, 12), mix(AGENT, FLOOR, 0.25), width=1.5, radius=2)
    for number in range(4):
        pen.circle((262 + 7 * number, 0), 1.5 + 0.4 * number, mix(FLOOR, AGENT, 0.25 + 0.15 * number))
    for left, text in ((18, "food"), (84, "poison"), (164, "what it sees"), (294, "where it was")):
        pen.text(text, (left, 0.5), 18, MUTED, align="left")


def _petal(action: int, length: float) -> list[Point]:
    """A sector of 38 degrees around the direction of an action."""
    right, down = direction(action)
    middle = math.atan2(down, right)
    turns = [middle + _HALF_PETAL * step / 6 for step in range(-6, 7)]
    return [(0.0, 0.0), *((length * math.cos(turn), length * math.sin(turn)) for turn in turns)]


def _draw_numbers(pen: Pen, moment: ActivationFrame) -> None:
    pen.text("How it fares", (0, 9), 20, TEXT, align="left")
    rows = (
        ("energy", f"{moment.energies[-1].energy:.2f}", AGENT),
        ("value", f"{moment.decision.value:.2f}", TEXT),
        ("food", f"{moment.food:,}", FOOD_COLOUR),
        ("poison", f"{moment.poison:,}", POISON_COLOUR),
        ("deaths", f"{moment.deaths:,}", TEXT),
        ("life", f"{moment.life:,}", TEXT),
        ("age", f"{moment.age:,}", TEXT),
        ("step", f"{moment.steps:,}", TEXT),
    )
    for line, (name, value, colour) in enumerate(rows):
        y = 36 + 21 * line
        width = pen.text(name, (0, y), 20, MUTED, align="left")
        pen.text(value, (_NUMBERS, y), 23, colour, align="right", fit=_NUMBERS - width - 24)
        if name in _SIGNS:
            _SIGNS[name](pen, (width + 12, y + 0.5), 4.5)


def _draw_energies(pen: Pen, moment: ActivationFrame) -> None:
    """The energy of the latest moments: a line for each life with a cross at its end, and dashed where it dies."""
    most = max(1.0, *(sample.energy for sample in moment.energies))
    least = min(0.0, *(sample.energy for sample in moment.energies))
    pen.text("Energy", (0, 8), 20, TEXT, align="left")
    pen.text(f"at the latest {REMEMBERED} moments", (66, 8.5), 18, MUTED, align="left")
    pen = pen.moved(_GUTTER, 20)
    width, height = _SIDE - _GUTTER, _CURVE_HEIGHT

    def place(number: int, energy: float) -> Point:
        return width * (number + 1) / REMEMBERED, 5 + (height - 10) * (most - energy) / (most - least)

    zero = place(0, 0)[1]
    pen.box((0, 0), (width, height), mix(GROUND, FLOOR, 0.45), radius=4)
    for x in range(4, width - 4, 10):
        pen.line((x, zero), (x + 5, zero), MUTED)
    pen.text(f"{most:.1f}", (-6, 5), 16, MUTED, align="right")
    pen.text("0", (-6, max(zero, 18)), 16, MUTED, align="right")
    offset = REMEMBERED - len(moment.energies)
    numbered = [(place(offset + number, sample.energy), sample.life) for number, sample in enumerate(moment.energies)]
    for life, points in groupby(numbered, key=lambda each: each[1]):
        line = [point for point, _ in points]
        if len(line) > 1:
            pen.path(line, AGENT if life == moment.life else mix(AGENT, OFF, 0.5), 2)
        if life != moment.life or moment.is_dead:
            draw_death(pen, line[-1], 4)
