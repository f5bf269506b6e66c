"""State of a run for the dashboard: the newest numbers of each mode, its curves, and how it ended."""

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    sentence: how it ended, and what was saved. newest: the last known number of each name. curve: as `Curve.points`
    gives it, ``width`` updates a point.
    """

    mode: str
    state: State = "waiting"
    sentence: str = ""
    newest: Numbers = field(default_factory=dict)
    curve: tuple[Numbers, ...] = ()
    width: int = 1


@dataclass(frozen=True)
class RunView:
    """A run at one moment. revision: changes whenever anything does."""

    revision: int
    is_stopping: bool
    modes: tuple[ModeView, ...]

    @property
    def is_over(self) -> bool:
        """True once every mode has ended."""
        return all(mode.state in ("finished", "stopped", "failed") for mode in self.modes)


class Progress:
    """A run as its rows tell it. Every method may be called from any thread, and none raises on what a row holds.

    ``stop_requested`` is set once the run is asked to end.
    """

    def __init__(self, modes: Sequence[str]) -> None:
        self.stop_requested = threading.Event()
        self._lock = threading.Lock()
        self._modes = {mode: ModeView(mode) for mode in modes}
        self._curves = {mode: Curve() for mode in modes}
        self._revision = 0

    def update(self, row: Mapping[str, Any]) -> None:
        """Show the row of an update: its mode, and numbers by name.

        A number that is missing, None or not finite stays as it was; a row of another run's mode is not shown.
        """
        with self._lock:
            mode = self._modes.get(str(row.get("mode")))
            if mode is None:
                return
            numbers = {name: float(value) for name, value in row.items() if _is_finite(value)}
            numbers.setdefault("update", mode.newest.get("update", 0.0) + 1)
            curve = self._curves[mode.mode]
            curve.add(numbers)
            state = "training" if mode.state == "waiting" else mode.state
            newest = {**mode.newest, **numbers}
            self._change(mode, state=state, newest=newest, curve=curve.points(), width=curve.width)

    def finish(self, mode: str, sentence: str, outcome: Outcome = "failed") -> None:
        """Show how a mode ended, in a sentence that says what was saved or what failed."""
        with self._lock:
            if mode in self._modes:
                self._change(self._modes[mode], state=outcome, sentence=sentence)

    def stop(self) -> None:
        """Ask the run to end, and show that."""
        with self._lock:
            self.stop_requested.set()
            self._revision += 1

    def end(self) -> None:
        """Show every mode as ended: those of which nothing else is known finished if they made their last update."""
        with self._lock:
            for mode in self._modes.values():
                if mode.state in ("waiting", "training"):
                    is_complete = mode.newest.get("update", 0.0) >= mode.newest.get("updates", math.inf)
                    self._change(mode, state="finished" if is_complete else "stopped")
            self._revision += 1

    def _change(self, mode: ModeView, **changes: Any) -> None:  # noqa: ANN401 - fields of a mode
        self._modes[mode.mode] = replace(mode, **changes)
        self._revision += 1

    @property
    def revision(self) -> int:
        """Changes whenever anything does."""
        with self._lock:
            return self._revision

    def view(self) -> RunView:
        """The run as it is now."""
        with self._lock:
            return RunView(self._revision, self.stop_requested.is_set(), tuple(self._modes.values()))


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
