"""Progress of runs in the terminal: a live display, or plain lines if the output is no terminal."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Self

from rich.console import Console, RenderableType
from rich.control import Control
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import ControlType

from rlparity.io.table import Table
from rlworldkit.runs.sinks import Metrics, Milestone, seconds_left

Advance = Callable[[int], None]
"""Callback that takes the progress since its last call."""
HEADLINES = (
    ("steps/s", "steps_per_second", ",.0f"),
    ("return", "train/mean_episode_return", ".3f"),
    ("length", "train/mean_episode_length", ".1f"),
    ("entropy", "train/entropy", ".3f"),
    ("KL", "train/approx_kl", ".4f"),
    ("clipped", "train/clip_frac", ".1%"),
)
"""Figures that progress shows: name, metric and format."""


class ConsoleProgress:
    """Context that shows the progress of runs, given their steps by name: a panel on a terminal, else plain lines."""

    def __init__(self, totals: Mapping[str, int], console: Console, milestone: Milestone | None = None) -> None:
        self._console, self._totals = console, totals
        self._headlines = (*HEADLINES, *([(milestone.name, milestone.metric, ".0f")] if milestone else []))
        self._newest: dict[str, Metrics] = {run: {} for run in totals}
        self._first: dict[str, Metrics] = {}
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=console,
        )
        self._tasks = {run: self._bars.add_task(run, total=total, start=False) for run, total in totals.items()}
        self._live = Live(self._panel(), console=console) if console.is_terminal else None

    def __enter__(self) -> Self:
        for task in self._tasks.values():
            self._bars.start_task(task)
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            with contextlib.suppress(OSError):  # the terminal is gone
                self._live.stop()

    def write(self, metrics: Metrics, run: str | None = None) -> None:
        """Show the newest metrics of a run, by default the only one."""
        run = run or next(iter(self._totals))
        self._newest[run] = metrics
        self._first.setdefault(run, metrics)
        if self._live:
            self._bars.update(self._tasks[run], completed=metrics["timesteps"])
            self._live.update(self._panel())
        else:
            self._console.print(self._line(run), soft_wrap=True, highlight=False)

    def advance(self, timesteps: int) -> None:
        """Move the bar of the only run between two rows of metrics."""
        (task,) = self._tasks.values()
        self._bars.update(task, completed=timesteps)

    def show_evaluation(self, text: str) -> None:
        """Show the progress of an evaluation of the only run, beside the bar or in a line; an empty text ends it."""
        (task,) = self._tasks
        if self._live:
            self._bars.update(self._tasks[task], description=text or task)
        elif text:
            self._console.print(text, soft_wrap=True, highlight=False)

    def _panel(self) -> RenderableType:
        figures = Table(box=None, padding=(0, 2, 0, 0))
        names = self._totals if len(self._totals) > 1 else ()
        for shown in (*(["run"] if names else []), *(shown for shown, _, _ in self._headlines)):
            figures.add_column(shown, justify="right")
        for run, metrics in self._newest.items():
            cells = (_formatted(metrics, name, style) for _, name, style in self._headlines)
            figures.add_row(*([run] if names else []), *cells)
        panel = Table.grid()
        panel.add_row(self._bars)
        panel.add_row(figures)
        return panel

    def _line(self, run: str) -> str:
        metrics, total = self._newest[run], self._totals[run]
        left = duration(seconds_left(self._first[run], metrics, total))
        figures = "  ".join(f"{shown} {_formatted(metrics, name, style)}" for shown, name, style in self._headlines)
        name = f"{run}  " if len(self._totals) > 1 else ""
        return f"{name}{metrics['timesteps']:,.0f} of {total:,} steps  {figures}  {left} left"


@contextlib.contextmanager
def working(console: Console, text: str, total: int | None = None) -> Iterator[Advance]:
    """Show that work is going on: on a terminal a spinner, a clock and, given a total, a bar; elsewhere a line.

    The context's value is a function that advances the bar.
    """
    if not console.is_terminal:
        console.print(f"{text} ...", soft_wrap=True)
        yield lambda steps: None
        return
    bar: list[ProgressColumn] = [] if total is None else [BarColumn(), MofNCompleteColumn()]
    columns = SpinnerColumn("line"), TextColumn("{task.description}", markup=False), *bar, TimeElapsedColumn()  # ASCII
    with Progress(*columns, console=console, transient=True) as shown:
        yield partial(shown.advance, shown.add_task(f"{text} ...", total=total))


def print_line(console: Console, line: str) -> None:
    """Print a line without wrapping or markup; print nothing if the terminal is gone."""
    with contextlib.suppress(OSError):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def print_nothing_to_save(console: Console) -> None:
    """Report that a run ends before its first update is complete, and leave a live display; works on any thread."""
    print_line(console, "Stopped before the first update was complete; there is nothing to keep.")
    console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
    console.show_cursor()


def _formatted(metrics: Metrics, name: str, style: str) -> str:
    value = metrics.get(name)
    return "–" if value is None or math.isnan(value) else format(value, style)


def duration(seconds: float) -> str:
    """Format a duration as ``1:02:03``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
