"""A moment of an agent as a picture of 1280x720 pixels, drawn off screen: no window and no display is needed."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from goodharts.brain_view.brain import REMEMBERED, Brain
from goodharts.brain_view.layers import draw_layers, heat
from goodharts.config import Config
from goodharts.models import Model
from goodharts.render.signs import draw_death, draw_items
from goodharts.render.surroundings import around
from goodharts.rules import ACTIONS, MODES, REACH, VIEW
from rlparity.core.prices import prices_note
from rlworldkit.render._pygame import pygame
from rlworldkit.render.colours import AGENT, FLOOR, GROUND, MUTED, OFF, TEXT, mix
from rlworldkit.render.pen import Pen, Point, pixels
from rlworldkit.watch.picture import draw_decision

WIDTH, HEIGHT = 1280, 720
"""Pixels of every picture; even, as videos want them."""
HORIZON = 15
"""Cells of the grid to each side of the agent; the agent itself sees less (G7)."""

_CELL = 18
_SIDE = (2 * HORIZON + 1) * _CELL
"""Pixels of the grid around the agent."""
_MIDDLE = (HORIZON + 0.5) * _CELL
_NEAR = mix(FLOOR, TEXT, 0.06)
_LEFT, _TOP, _RIGHT, _FOOT = 24, 56, WIDTH - 24, 704
_BRAIN = _LEFT + _SIDE + 24
"""Left edge of the right half, which shows the inside of the agent."""
_CURVE_HEIGHT, _GUTTER = 48, 34
_LAYERS_TOP = 276
_PIXEL = 13
_CHANNEL_SIDE = VIEW * _PIXEL


def caption_of(model: Model) -> str:
    """The network of a trained agent, and how it was trained."""
    prices = prices_note(Config().over(model.config, "The model").changed_prices(model.mode))
    return f"{model.network.kind}, update {model.update:,}, {model.timesteps:,} steps of training{prices}"


def draw_picture(brain: Brain) -> NDArray[np.uint8]:
    """The picture of a moment as RGB: uint8 (720, 1280, 3)."""
    return pixels(draw_surface(brain))


def draw_surface(brain: Brain, hints: str = "") -> pygame.Surface:
    """The same as a surface: the grid at the left, the agent's inside at the right. hints: a line at the bottom."""
    pen = Pen.on((WIDTH, HEIGHT), GROUND)
    used = pen.text(brain.model.mode, (_LEFT, 29), 34, TEXT, align="left")
    pen.text(caption_of(brain.model), (_LEFT + used + 14, 31), 20, MUTED, align="left")
    _draw_surroundings(pen.moved(_LEFT, _TOP), brain)
    _draw_energies(pen.moved(_LEFT, _TOP + _SIDE + 12), brain)
    pen.text(_numbers(brain), (_LEFT, _FOOT), 19, TEXT, align="left", fit=_SIDE)
    channels, layers, decision = brain.thoughts()
    for number, values in enumerate(channels):
        here = pen.moved(_BRAIN + number * (_CHANNEL_SIDE + 14), _TOP)
        _draw_channel(here, values, _channel_name(brain.model.mode, number))
    if brain.is_dead:
        pen.text("dead", (_RIGHT, _TOP + 10), 24, MUTED, align="right")
    else:
        draw_decision(pen.moved(_RIGHT - 320, _TOP + 12), decision, ACTIONS)
    draw_layers(pen.moved(_BRAIN, _LAYERS_TOP), layers, _RIGHT - _BRAIN, _FOOT - 12 - _LAYERS_TOP)
    pen.text(hints, (_RIGHT, _FOOT + 0.5), 18, MUTED, align="right")
    return pen.finished()


def _channel_name(mode: str, number: int) -> str:
    name = ("is food", "is poison")[number] if MODES[mode].sees_truth else "interestingness"
    return f"channel {number}: {name}"


def _numbers(brain: Brain) -> str:
    energy = (
        f"energy {brain.energies[-1][1]:.2f}, food {brain.food:,}, poison {brain.poison:,}, deaths {brain.deaths:,}"
    )
    return f"{energy}    life {brain.life:,}, age {brain.state['steps']:,}, step {brain.steps:,}"


def _draw_surroundings(pen: Pen, brain: Brain) -> None:
    """31×31 cells: what lies there, what the agent sees of it, and where the agent was."""
    pen.box((0, 0), (_SIDE, _SIDE), mix(GROUND, FLOOR, 0.45), radius=6)
    first, size = (HORIZON - REACH) * _CELL, VIEW * _CELL
    pen.box((first, first), (size, size), _NEAR)
    for place in range(_CELL, _SIDE, _CELL):
        pen.line((place, 0), (place, _SIDE), GROUND, 1)
        pen.line((0, place), (_SIDE, place), GROUND, 1)
    inside = [(right, down) for right, down in brain.trail if max(abs(right), abs(down)) <= HORIZON]
    for number, (right, down) in enumerate(inside, start=1):  # the fainter the longer ago
        share = number / len(inside)
        centre = _MIDDLE + right * _CELL, _MIDDLE + down * _CELL
        pen.circle(centre, 2 + 1.5 * share, mix(_NEAR, AGENT, 0.15 + 0.45 * share))
    draw_items(pen, around(brain.state, HORIZON), _CELL, 6)
    pen.box((first - 1, first - 1), (size + 2, size + 2), mix(AGENT, _NEAR, 0.25), width=2, radius=3)
    pen.circle((_MIDDLE, _MIDDLE), 7, mix(AGENT, OFF, 0.5) if brain.is_dead else AGENT)
    if brain.is_dead:
        draw_death(pen, (_MIDDLE, _MIDDLE), 5)
    if brain.news:
        pen.text(brain.news, (_MIDDLE, first + size + 15), 22, TEXT, fit=_SIDE)


def _draw_channel(pen: Pen, values: NDArray[np.float32], name: str) -> None:
    """A channel of the observation (G7), from 0, dark, to 1, bright; the agent's own cell is framed."""
    pen.image(heat(values, 1.0), (0, 0), _PIXEL)
    corner = REACH * _PIXEL
    pen.box((corner, corner), (_PIXEL, _PIXEL), AGENT, width=1.5)
    pen.text(name, (_CHANNEL_SIDE / 2, _CHANNEL_SIDE + 13), 17, MUTED, fit=_CHANNEL_SIDE)


def _draw_energies(pen: Pen, brain: Brain) -> None:
    """The energy of the latest moments: a line for each life with a cross at its end, and dashed where it dies."""
    most = max(1.0, *(energy for _, energy in brain.energies))
    least = min(0.0, *(energy for _, energy in brain.energies))
    pen.text(f"Energy at the latest {REMEMBERED} moments", (0, 8), 18, MUTED, align="left")
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
    offset = REMEMBERED - len(brain.energies)
    numbered = [(place(offset + number, energy), life) for number, (life, energy) in enumerate(brain.energies)]
    for life, points in groupby(numbered, key=lambda each: each[1]):
        line = [point for point, _ in points]
        if len(line) > 1:
            pen.path(line, AGENT if life == brain.life else mix(AGENT, OFF, 0.5), 2)
        if life != brain.life or brain.is_dead:
            draw_death(pen, line[-1], 4)
