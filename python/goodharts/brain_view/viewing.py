"""A window in which a person watches an agent, at any speed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from goodharts.brain_view.moment import Moment
from goodharts.brain_view.picture import Caption, draw_surface
from goodharts.brain_view.player import Player
from worldkit.render._pygame import pygame
from worldkit.runs.stop import StopRequest
from worldkit.watch.controls import Controls, play
from worldkit.watch.window import WindowScreen

_MOST_LATE = 0.1
"""Seconds by which pictures may be late: at high speeds some are left out."""
_KEYS = "space: pause    right: one step    up, down: speed    n: next life    q: quit"


def view(player: Player, caption: Caption, controls: Controls, *, steps: int | None = None) -> None:
    """Show an agent in a window until somebody quits or it has made ``steps`` steps; None: without end.

    Raises ParityError where no window can be opened.
    """

    def draw(moment: Moment, controls: Controls) -> pygame.Surface:
        pace = "paused" if controls.is_paused else f"{controls.speed:g} steps a second"
        return draw_surface(moment, caption, f"{pace}    {_KEYS}")

    with closing(WindowScreen(f"Goodharts: {caption.mode}", draw)) as screen, StopRequest() as stop:
        for _ in play(_lives(player, steps), screen, controls, stop, _MOST_LATE):
            pass


def _lives(player: Player, steps: int | None) -> Iterator[Iterator[Moment]]:
    """One life after another, each asked for when the one before has ended or is left."""
    yield _life(player, steps)
    while steps is None or player.moment.steps < steps:
        player.begin_another_life()
        yield _life(player, steps)


def _life(player: Player, steps: int | None) -> Iterator[Moment]:
    yield player.moment
    while not player.moment.is_dead and (steps is None or player.moment.steps < steps):
        yield player.step()
