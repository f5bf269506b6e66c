"""Training in the terminal: a line for each mode that changes in place, or plain lines where there is no terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar

from goodharts.training.trainer import Row
from parity.table import Table
from worldkit.runs.console import duration, say

_LINES_PER_RUN = 32
"""How many lines a mode prints where there is no terminal."""
# Shown name, name in a row, format.
_FIGURES = (
    ("reward", "episode_reward", ".2f"),
    ("length", "episode_length", ".0f"),
    ("entropy", "entropy", ".3f"),
    ("KL", "approx_kl", ".4f"),
    ("clipped", "clip_fraction", ".1%"),
    ("explained", "explained_variance", ".2f"),
    ("steps/s", "steps_per_second", ",.0f"),
)


class Progress:
    """Shows the rows of some modes. Use it as a context."""

    def __init__(self, modes: Sequence[str], console: Console) -> None:
        self._console = console
        self._rows: dict[str, Row] = {mode: {} for mode in modes}
        self._live = Live(self._table(), console=console, transient=True) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            with contextlib.suppress(OSError):  # the terminal has gone
                self._live.stop()

    def write(self, row: Row) -> None:
        """Show a row."""
        self._rows[row["mode"]] = row
        if self._live:
            self._live.update(self._table())
        elif row["update"] % max(row["updates"] // _LINES_PER_RUN, 1) == 0 or row["update"] == row["updates"]:
            figures = "  ".join(f"{shown} {_formatted(row, name, style)}" for shown, name, style in _FIGURES)
            count = f"update {row['update']:,} of {row['updates']:,}"
            self.say(f"{row['mode']}  {count}  {figures}  {_left(row)} left")

    def say(self, line: str) -> None:
        """Print a line, above what changes in place."""
        say(self._console, line)

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column("mode", no_wrap=True)
        table.add_column("update", justify="right", no_wrap=True)
        table.add_column("")
        for shown, _, _ in _FIGURES:
            table.add_column(shown, justify="right")
        table.add_column("left", justify="right")
        for mode, row in self._rows.items():
            update, updates = row.get("update", 0), row.get("updates")
            table.add_row(
                mode,
                f"{update:,}/{updates:,}" if updates else "starting",
                ProgressBar(total=updates or 1, completed=update, width=12),
                *(_formatted(row, name, style) for _, name, style in _FIGURES),
                _left(row),
            )
        return table


def _formatted(row: Row, name: str, style: str) -> str:
    value = row.get(name)
    return "–" if value is None else format(value, style)


def _left(row: Row) -> str:
    seconds = row.get("seconds_left")
    return "–" if seconds is None else duration(seconds)
