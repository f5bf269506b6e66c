"""Keys of a person who watches, and the pace of frames."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rlworldkit.runs.stop import StopRequest
    from rlworldkit.show.watch.frames import Frame

SLOWEST, FASTEST = 0.1, 100.0
"""Limits of the speed, in actions a second."""
KEYS = (("space", "pause"), ("s", "one step"), ("+ -", "faster, slower"), ("n", "next game"), ("q", "quit"))
"""The keys and what they do, for display."""
_END_SECONDS = 1.0
"""Least time for which the end of a game is shown."""
_POLL_SECONDS = 0.05


class Controls:
    """The state that keys change. speed: actions a second."""

    def __init__(self, speed: float) -> None:
        self.speed = speed
        self.is_paused = self.steps = self.skips = self.quits = False

    def press(self, key: str) -> None:
        """Handle a pressed key; unknown keys are ignored."""
        if key == " ":
            self.is_paused = not self.is_paused
        elif key == "s":
            self.is_paused = self.steps = True
        elif key in ("+", "="):  # = is + without shift
            self.speed = min(2 * self.speed, FASTEST)
        elif key == "-":
            self.speed = max(self.speed / 2, SLOWEST)
        elif key == "n":
            self.skips = True
        elif key == "q":
            self.quits = True

    @property
    def pace(self) -> str:
        """Description of the pace."""
        return f"{'paused, ' if self.is_paused else ''}{self.speed:g} actions/s"


class Screen(Protocol):
    """A screen that shows frames and reads keys."""

    def show(self, frame: Frame, controls: Controls, /) -> None:
        """Show a frame."""

    def key(self, seconds: float) -> str | None:
        """Wait for the next key for this long at most; None: no key was pressed."""


def play(games: Iterator[Iterator[Frame]], screen: Screen, controls: Controls, stop: StopRequest) -> Iterator[Frame]:
    """Show games until the last one is over or the person quits; yields the last frame shown of each game."""
    for game in games:
        last = None
        controls.skips = False
        for last in game:
            screen.show(last, controls)
            _wait(last, screen, controls, stop)
            if controls.skips or controls.quits:
                break
        if last is not None:
            yield last
        if controls.quits:
            return


def _wait(frame: Frame, screen: Screen, controls: Controls, stop: StopRequest) -> None:
    """Handle keys until the next frame is due."""
    shown = time.monotonic()
    controls.steps = False
    while True:
        due = shown + max(1 / controls.speed, _END_SECONDS if frame.ending else 0)
        left = max(0.0, due - time.monotonic())
        key = screen.key(_POLL_SECONDS if controls.is_paused else min(left, _POLL_SECONDS))
        if key is not None:
            controls.press(key)
            if not controls.quits:
                screen.show(frame, controls)
        controls.quits |= stop.requested
        is_left = controls.steps or controls.skips or controls.quits
        if is_left or (time.monotonic() >= due and not controls.is_paused):
            return
