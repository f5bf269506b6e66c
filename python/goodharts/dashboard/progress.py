"""State of a run for the dashboard: the newest numbers of each mode, its curves, and how it ended."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal

Outcome = Literal["finished", "stopped", "failed"]
State = Literal["waiting", "training"] | Outcome
Numbers = Mapping[str, float]
"""Numbers by their names in a row; what is unknown is not there."""

POINTS = 75
"""A curve has at most twice as many points: as many as a chart of its size can tell apart."""


class Curve:
    """The rows of one mode as at most ``2 * POINTS`` points, however many rows there are.

    A point is the mean of ``width`` rows in succession, which doubles whenever the points become too many; the last
    one is the mean of those that are there yet.
    """

    def __init__(self) -> None:
        self.width = 1
        self._points: list[Numbers] = []
        self._open: list[Numbers] = []

    def add(self, row: Numbers) -> None:
        """Take the next row."""
        self._open.append(row)
        if len(self._open) == self.width:
            self._points.append(_mean(self._open))
            self._open = []
        if len(self._points) == 2 * POINTS:
            self._points = [_mean(pair) for pair in zip(self._points[::2], self._points[1::2], strict=True)]
            self.width *= 2

    def points(self) -> tuple[Numbers, ...]:
        """The points so far, oldest first."""
        return (*self._points, _mean(self._open)) if self._open else tuple(self._points)


@dataclass(frozen=True)
class ModeView:
    """A mode at one moment.

    sentence: how it ended, and what was saved. newest: the last known number of each name. curve: what `Curve.points`
    gives, ``width`` updates a point.
    """

    mode: str
    state: State
    sentence: str
    newest: Numbers
    curve: tuple[Numbers, ...]
    width: int


@dataclass(frozen=True)
class RunView:
    """A run at one moment. revision: changes whenever anything does."""

    revision: int
    is_stopping: bool
    modes: tuple[ModeView, ...]

    @property
    def is_over(self) -> bool:
        """Whether every mode has ended."""
        return all(mode.state in ("finished", "stopped", "failed") for mode in self.modes)


@dataclass
class _Mode:
    state: State = "waiting"
    sentence: str = ""
    newest: dict[str, float] = field(default_factory=dict)
    curve: Curve = field(default_factory=Curve)


class Progress:
    """A run as its rows tell it. Every method may be called from any thread, and none raises on what a row holds."""

    def __init__(self, modes: Sequence[str]) -> None:
        self._lock = threading.Lock()
        self._modes = {mode: _Mode() for mode in modes}
        self._revision = 0
        self._is_stopping = False

    def update(self, row: Mapping[str, Any]) -> None:
        """Take the row of an update. What it lacks stays as it was; a row of another run's mode is not shown."""
        with self._lock:
            mode = self._modes.get(str(row.get("mode")))
            if mode is None:
                return
            numbers = {name: float(value) for name, value in row.items() if _is_finite(value)}
            numbers.setdefault("update", mode.newest.get("update", 0.0) + 1)
            mode.newest.update(numbers)
            mode.curve.add(numbers)
            if mode.state == "waiting":
                mode.state = "training"
            self._revision += 1

    def finish(self, mode: str, sentence: str, outcome: Outcome) -> None:
        """Show that a mode has ended."""
        with self._lock:
            if mode in self._modes:
                self._modes[mode].state, self._modes[mode].sentence = outcome, sentence
                self._revision += 1

    def stop(self) -> None:
        """Show that the run was asked to end."""
        with self._lock:
            self._is_stopping = True
            self._revision += 1

    def end(self) -> None:
        """Show every mode as ended: those of which nothing else is known finished if they made their last update."""
        with self._lock:
            for mode in self._modes.values():
                if mode.state in ("waiting", "training"):
                    is_complete = mode.newest.get("update", 0.0) >= mode.newest.get("updates", math.inf)
                    mode.state = "finished" if is_complete else "stopped"
            self._revision += 1

    @property
    def revision(self) -> int:
        """Changes whenever anything does."""
        with self._lock:
            return self._revision

    def view(self) -> RunView:
        """The run as it is now."""
        with self._lock:
            modes = tuple(
                ModeView(name, mode.state, mode.sentence, dict(mode.newest), mode.curve.points(), mode.curve.width)
                for name, mode in self._modes.items()
            )
            return RunView(self._revision, self._is_stopping, modes)


def _is_finite(value: object) -> bool:
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an int that no float can hold
        return False


def _mean(rows: Sequence[Numbers]) -> Numbers:
    """The mean of each number over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    known = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: math.fsum(values) / len(values) for name, values in known.items()}
