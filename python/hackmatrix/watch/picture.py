"""A moment as a picture: the board, and at its right the decision that led to it and the rewards."""

from hackmatrix.render.picture import HEIGHT, draw_surface
from hackmatrix.render.picture import WIDTH as BOARD_WIDTH
from hackmatrix.rules import ACTIONS
from hackmatrix.watch.controls import KEYS, Controls
from hackmatrix.watch.play import Decision, Moment
from hackmatrix.watch.text import MOST_ACTIONS, likeliest_first, reward_rows
from worldkit.render._pygame import pygame
from worldkit.render.colours import AGENT, BAD, GOOD, GROUND, MUTED, OFF, TEXT, Colour
from worldkit.render.pen import Pen

WIDTH = BOARD_WIDTH + 360
"""Pixels; the height is that of a board."""

_COLUMN = 320
_LINE = 22


def draw_moment(moment: Moment, caption: str, controls: Controls | None = None) -> pygame.Surface:
    """The picture of a moment, 1260x640 pixels; with ``controls`` the keys stand below."""
    pen = Pen.on((WIDTH - BOARD_WIDTH, HEIGHT), GROUND)
    column = pen.moved(12, 14)
    column.text(f"Game {moment.seed}, step {moment.step}", (0, 16), 28, TEXT, align="left", fit=_COLUMN)
    if moment.ending:
        column.text(moment.ending, (_COLUMN, 44), 24, GOOD if moment.board.won else BAD, align="right")
    column.text(caption, (0, 44), 18, MUTED, align="left", fit=_COLUMN - 80)
    if moment.decision:
        _draw_decision(column.moved(0, 78), moment.decision)
    _draw_rewards(column.moved(0, 310), moment)
    if controls:
        _draw_keys(column.moved(0, HEIGHT - 50), controls)
    picture = pygame.Surface((WIDTH, HEIGHT))
    picture.blit(draw_surface(moment.board), (0, 0))
    picture.blit(pen.finished(), (BOARD_WIDTH, 0))
    return picture


def _draw_decision(pen: Pen, decision: Decision) -> None:
    pen.text(f"{ACTIONS[decision.action]}", (0, 0), 24, AGENT, align="left")
    pen.text(f"value {decision.value:.2f}", (_COLUMN, 0), 20, TEXT, align="right")
    shown = likeliest_first(decision)
    for line, action in enumerate(shown[:MOST_ACTIONS]):
        probability, y = float(decision.probabilities[action]), 26 + _LINE * line
        is_taken = action == decision.action
        pen.text(ACTIONS[action], (0, y), 20, AGENT if is_taken else TEXT, align="left")
        pen.box((76, y - 6), (180, 12), OFF, radius=4)
        pen.box((76, y - 6), (max(180 * probability, 2), 12), AGENT if is_taken else MUTED, radius=4)
        pen.text(f"{probability:.1%}", (_COLUMN, y), 19, TEXT, align="right")
    if rest := shown[MOST_ACTIONS:]:
        more = f"{len(rest)} more {decision.probabilities[rest].sum():.1%}"
        pen.text(more, (_COLUMN, 26 + _LINE * MOST_ACTIONS), 17, MUTED, align="right")


def _draw_rewards(pen: Pen, moment: Moment) -> None:
    """The components that the step or the episode earned, and the sums, in lines so close that all 15 have room."""
    _draw_reward(pen, ("reward", "step", "episode"), MUTED)
    rows = reward_rows(moment)
    height = min(19, 250 / (len(rows) + 1))
    for line, row in enumerate(rows):
        _draw_reward(pen.moved(0, height * (line + 1)), row, TEXT)
    total = ("total", f"{moment.reward.sum():+.3f}", f"{moment.earned.sum():+.3f}")
    _draw_reward(pen.moved(0, height * (len(rows) + 1)), total, AGENT)


def _draw_reward(pen: Pen, row: tuple[str, str, str], colour: Colour) -> None:
    for text, x, align in zip(row, (0, 230, _COLUMN), ("left", "right", "right"), strict=True):
        pen.text(text, (x, 0), 19, colour, align=align)


def _draw_keys(pen: Pen, controls: Controls) -> None:
    pen.text(controls.pace, (_COLUMN, -18), 19, BAD if controls.is_paused else MUTED, align="right")
    for line, keys in enumerate((KEYS[:3], KEYS[3:])):
        told = "   ".join(f"[{key}] {what}" for key, what in keys)
        pen.text(told, (0, 2 + 18 * line), 18, MUTED, align="left", fit=_COLUMN)
