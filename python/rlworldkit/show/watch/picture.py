"""Picture of a frame: the board, and at its right the decision that led to it and the rewards."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rlparity import State, World
from rlworldkit.agents.agent import Agent
from rlworldkit.render._pygame import pygame
from rlworldkit.render.colours import AGENT, BAD, GOOD, GROUND, MUTED, OFF, TEXT
from rlworldkit.render.film import PICTURE, film, last_picture
from rlworldkit.render.pen import Pen, pixels, surface_of
from rlworldkit.render.show import picture_of, show_of
from rlworldkit.show.watch.controls import KEYS, Controls
from rlworldkit.show.watch.frames import Decision, Frame
from rlworldkit.show.watch.layers import draw_layers
from rlworldkit.show.watch.text import MOST_ACTIONS, VALUE, likeliest_first, reward_rows

_PANEL = 360
"""Pixels beside the board."""
_LEAST_HEIGHT = 560
_LAYERS = 240
"""Pixels below the board for the layers of an agent that has ``layers``."""
_COLUMN = 320
_LINE = 22


def size_of(board: NDArray[np.uint8]) -> tuple[int, int]:
    """Return width and height of a frame's picture for its board's picture, without layers; even, as videos need."""
    height, width, _ = board.shape
    return width + width % 2 + _PANEL, max(height + height % 2, _LEAST_HEIGHT)


def draw_frame(frame: Frame, caption: str, controls: Controls | None = None) -> pygame.Surface:
    """Draw a frame, 360 pixels wider than its board; with ``controls`` the keys are shown at the right.

    An agent's layers, if it has any, are drawn below, 240 pixels high, as they were when it decided the step.
    """
    board = picture_of(frame.world, frame.state)
    width, height = size_of(board)
    pen = Pen.on((_PANEL, height), GROUND)
    column = pen.moved(12, 14)
    column.text(f"Game {frame.seed}, step {frame.step}", (0, 16), 28, TEXT, align="left", fit=_COLUMN)
    if frame.ending:
        column.text(
            frame.ending,
            (_COLUMN, 44),
            24,
            GOOD if frame.ending == show_of(frame.world).victory else BAD,
            align="right",
        )
    column.text(caption, (0, 44), 18, MUTED, align="left", fit=_COLUMN - 80)
    if frame.decision:
        draw_decision(column.moved(0, 78), frame.decision, frame.world.actions)
    _draw_rewards(column.moved(0, 310), frame)
    if controls:
        _draw_keys(column.moved(0, height - 50), controls)
    layers = frame.agent.layers if frame.agent else None
    picture = pygame.Surface((width, height + (_LAYERS if layers else 0)))
    picture.fill(GROUND)
    picture.blit(surface_of(board), (0, 0))
    picture.blit(pen.finished(), (width - _PANEL, 0))
    if layers and frame.decision:
        picture.blit(draw_layers(layers(frame.decision.observation[None]), (width, _LAYERS)), (0, height))
    return picture


@contextmanager
def film_of_frames(
    path: Path, caption: str, speed: float, world: World, state: State, agent: Agent
) -> Iterator[Callable[[Frame], None]]:
    """Context with a function that adds frames to a film (``rlworldkit.render.film``) of ``speed`` pictures a second.

    state: any state of the world, which tells the size of its pictures. A ``.png`` gets the last frame.
    """
    width, height = size_of(picture_of(world, state))
    size = width, height + (_LAYERS if agent.layers else 0)
    with last_picture(path) if path.suffix == PICTURE else film(path, size, speed) as add:
        yield lambda frame: add(pixels(draw_frame(frame, caption)))


def draw_decision(pen: Pen, decision: Decision, names: Sequence[str]) -> None:
    """Draw an action, the value, and the probabilities of the likeliest actions, 320 pixels wide."""
    pen.text(names[decision.action], (0, 0), 24, AGENT, align="left")
    if decision.value is not None:
        pen.text(f"{VALUE} {decision.value:.2f}", (_COLUMN, 0), 20, TEXT, align="right", fit=210)
    shown = likeliest_first(decision)
    for line, action in enumerate(shown[:MOST_ACTIONS]):
        probability, y = float(decision.probabilities[action]), 26 + _LINE * line
        is_taken = action == decision.action
        pen.text(names[action], (0, y), 20, AGENT if is_taken else TEXT, align="left", fit=70)
        pen.box((76, y - 6), (180, 12), OFF, radius=4)
        pen.box((76, y - 6), (max(180 * probability, 2), 12), AGENT if is_taken else MUTED, radius=4)
        pen.text(f"{probability:.1%}", (_COLUMN, y), 19, TEXT, align="right")
    if rest := shown[MOST_ACTIONS:]:
        more = f"{len(rest)} more {decision.probabilities[rest].sum():.1%}"
        pen.text(more, (_COLUMN, 26 + _LINE * MOST_ACTIONS), 17, MUTED, align="right")


def _draw_rewards(pen: Pen, frame: Frame) -> None:
    """Draw the nonzero reward components of the step and the episode, and the sums, with a line spacing that fits."""
    total = ("total", f"{frame.reward.sum():+.3f}", f"{frame.earned.sum():+.3f}")
    rows = [("reward", "step", "episode"), *reward_rows(frame), total]
    height = min(19, 250 / (len(rows) - 1))
    for line, row in enumerate(rows):
        colour = MUTED if line == 0 else AGENT if row is total else TEXT
        for text, x, align in zip(row, (0, 230, _COLUMN), ("left", "right", "right"), strict=True):
            pen.text(text, (x, height * line), 19, colour, align=align)


def _draw_keys(pen: Pen, controls: Controls) -> None:
    pen.text(controls.pace, (_COLUMN, -18), 19, BAD if controls.is_paused else MUTED, align="right")
    for line, keys in enumerate((KEYS[:3], KEYS[3:])):
        text = "   ".join(f"[{key}] {what}" for key, what in keys)
        pen.text(text, (0, 2 + 18 * line), 18, MUTED, align="left", fit=_COLUMN)
