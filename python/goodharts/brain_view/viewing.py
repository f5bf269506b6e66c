"""A window in which a person watches an agent, at any speed."""

from __future__ import annotations

import time

from goodharts.brain_view.picture import Caption, draw_surface
from goodharts.brain_view.player import Player
from worldkit.render._pygame import pygame
from worldkit.render.window import Window

REFRESH = 60
"""Pictures a second at most, so that keys are answered at once however slowly the agent goes."""
_MOST_ELAPSED = 0.25
"""Seconds between two pictures that steps are made up for: where drawing is slow, keys are still answered."""
SPEEDS = (0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240)
"""Steps a second to choose from by key."""

_PAUSE = (pygame.K_SPACE, pygame.K_p)
_STEP = (pygame.K_RIGHT, pygame.K_s)
_FASTER = (pygame.K_UP, pygame.K_PLUS, pygame.K_EQUALS, pygame.K_KP_PLUS)
_SLOWER = (pygame.K_DOWN, pygame.K_MINUS, pygame.K_KP_MINUS)
_NEXT_LIFE = (pygame.K_n,)
_QUIT = (pygame.K_q, pygame.K_ESCAPE)
_KEYS = "space: pause    right: one step    up, down: speed    n: next life    q: quit"


def open_window(title: str = "Goodharts") -> Window[pygame.Surface]:
    """A window for pictures that are drawn already: each is shown many times."""
    return Window(lambda picture: picture, title, REFRESH)


class Viewing:
    """An agent in a window, until somebody quits or it has made ``steps`` steps.

    Args:
        player: the agent.
        caption: what stands above it.
        window: where it is shown, open or not.
        speed: steps a second, to begin with.
        steps: after how many to end; None: never.
    """

    def __init__(
        self,
        player: Player,
        caption: Caption,
        window: Window[pygame.Surface],
        *,
        speed: float,
        steps: int | None = None,
    ) -> None:
        self.speed = speed
        self.is_paused = False
        self._player, self._caption, self._window, self._steps = player, caption, window, steps
        self._has_quit = False
        self._due = 0.0

    def run(self) -> None:
        """Show one moment after another. Raises ParityError where no window can be opened."""
        picture, then = self._picture(), time.monotonic()
        self._window.show(picture)
        while self._window.is_open and not self._has_quit and not self._is_over:
            before = self._player.moment, self.speed, self.is_paused
            for pressed in self._window.pressed():
                self._answer(pressed.key)
            now = time.monotonic()
            self._go_on(min(now - then, _MOST_ELAPSED))
            then = now
            if (self._player.moment, self.speed, self.is_paused) != before:
                picture = self._picture()
            self._window.show(picture)

    @property
    def _is_over(self) -> bool:
        return self._steps is not None and self._player.moment.steps >= self._steps

    def _answer(self, key: int) -> None:
        if key in _PAUSE:
            self.is_paused = not self.is_paused
        elif key in _STEP:
            self.is_paused = True
            self._player.step()
        elif key in _FASTER:
            self.speed = min((speed for speed in SPEEDS if speed > self.speed), default=self.speed)
        elif key in _SLOWER:
            self.speed = max((speed for speed in SPEEDS if speed < self.speed), default=self.speed)
        elif key in _NEXT_LIFE:
            self._player.begin_another_life()
        elif key in _QUIT:
            self._has_quit = True

    def _go_on(self, elapsed: float) -> None:
        """The steps that have become due in so many seconds; of several only the last is seen."""
        self._due = 0.0 if self.is_paused else self._due + self.speed * elapsed
        while self._due >= 1 and not self._is_over:
            self._player.step()
            self._due -= 1

    def _picture(self) -> pygame.Surface:
        pace = "paused" if self.is_paused else f"{self.speed:g} steps a second"
        return draw_surface(self._player.moment, self._caption, f"{pace}    {_KEYS}")
