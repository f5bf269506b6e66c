"""Drawing of an agent's two channels as heat maps, and of the probabilities of its moves."""

from __future__ import annotations

import math

from goodharts.brain_view.activation_frame import ActivationFrame
from goodharts.brain_view.layers import heat
from goodharts.render.signs import direction, draw_arrow, draw_food, draw_poison
from goodharts.rules import ACTIONS, MODES, REACH, VIEW
from worldkit.render.colours import AGENT, FLOOR, MUTED, OFF, TEXT, mix
from worldkit.render.pen import Pen, Point

_PIXEL = 13
CHANNEL_SIDE = VIEW * _PIXEL
"""Pixels of one channel."""
_BETWEEN = 14
_RADIUS = 58
"""Of the rose, where a probability is 1."""
_HALF_PETAL = math.radians(19)


def draw_channels(pen: Pen, moment: ActivationFrame, mode: str) -> None:
    """Both channels of the observation (G7), each from 0, dark, to 1, bright; the agent's own cell is framed."""
    sees_truth = MODES[mode].sees_truth
    for number, values in enumerate(moment.channels):
        here = pen.moved(number * (CHANNEL_SIDE + _BETWEEN), 0)
        here.image(heat(values, 1.0), (0, 0), _PIXEL)
        corner = REACH * _PIXEL
        here.box((corner, corner), (_PIXEL, _PIXEL), AGENT, width=1.5)
        name = ("is food", "is poison")[number] if sees_truth else "interestingness"
        here.text(f"channel {number}: {name}", (CHANNEL_SIDE / 2, CHANNEL_SIDE + 13), 17, MUTED, fit=CHANNEL_SIDE)


def draw_rose(pen: Pen, moment: ActivationFrame) -> None:
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


def draw_decision(pen: Pen, moment: ActivationFrame) -> None:
    """The move that comes next, with its middle at (0, 0)."""
    if moment.is_dead:
        pen.text("none: it is dead", (0, 0), 19, MUTED)
        return
    name = ACTIONS[moment.decision.action].replace("_", " and ")
    width = pen.text(name, (10, 0), 19, TEXT)
    draw_arrow(pen, (-width / 2 - 4, 0), moment.decision.action, 15, AGENT)


def draw_legend(pen: Pen) -> None:
    """What the signs on the grid mean, from (0, 0) to the right."""
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
