"""A run in the terminal: live progress, or plain lines where there is no terminal."""

import contextlib
import math
from collections.abc import Iterator
from typing import Self

from rich.console import Console, RenderableType
from rich.control import Control
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import ControlType

from parity.table import Table
from worldkit.runs.milestone import Milestone
from worldkit.runs.sinks import Metrics

# Shown name, metric, format.
_HEADLINES = (
    ("steps/s", "steps_per_second", ",.0f"),
    ("return", "train/mean_episode_return", ".3f"),
    ("length", "train/mean_episode_length", ".1f"),
    ("entropy", "train/entropy", ".3f"),
    ("KL", "train/approx_kl", ".4f"),
    ("clipped", "train/clip_frac", ".1%"),
)


class ConsoleProgress:
    """Progress of a run of ``total_timesteps``: a live panel on a terminal, plain lines elsewhere.

    Use it as a context.
    """

    def __init__(self, total_timesteps: int, console: Console, milestone: Milestone | None = None) -> None:
        self._console = console
        own = [(milestone.name, milestone.metric, ".0f")] if milestone else []
        self._headlines = [*_HEADLINES, *own]
        self._total = total_timesteps
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=console,
        )
        self._task = self._bar.add_task("training", total=total_timesteps, start=False)
        self._live = Live(self._panel({}), console=console) if console.is_terminal else None

    def __enter__(self) -> Self:
        self._bar.start_task(self._task)
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            with contextlib.suppress(OSError):  # the terminal has gone
                self._live.stop()

    def write(self, metrics: Metrics) -> None:
        """Show the newest metrics."""
        if self._live:
            self._bar.update(self._task, completed=metrics["timesteps"])
            self._live.update(self._panel(metrics))
        else:
            self._console.print(self._line(metrics), soft_wrap=True, highlight=False)

    def advance(self, timesteps: int) -> None:
        """Move the bar between two rows of metrics."""
        self._bar.update(self._task, completed=timesteps)

    def _panel(self, metrics: Metrics) -> RenderableType:
        figures = Table(box=None, padding=(0, 2, 0, 0))
        for shown, _, _ in self._headlines:
            figures.add_column(shown, justify="right")
        figures.add_row(*(_formatted(metrics, name, style) for _, name, style in self._headlines))
        panel = Table.grid()
        panel.add_row(self._bar)
        panel.add_row(figures)
        return panel

    def _line(self, metrics: Metrics) -> str:
        seconds_left = (self._total - metrics["timesteps"]) * metrics["seconds"] / metrics["timesteps"]
        figures = "  ".join(f"{shown} {_formatted(metrics, name, style)}" for shown, name, style in self._headlines)
        return f"{metrics['timesteps']:,.0f} of {self._total:,} steps  {figures}  {duration(seconds_left)} left"


@contextlib.contextmanager
def compiling(console: Console, reuse: str) -> Iterator[None]:
    """Show that compilation is going on, and who reuses it: a spinner on a terminal, a line elsewhere."""
    message = f"Compiling ({reuse}) ..."
    if console.is_terminal:
        with console.status(message, spinner="line"):  # in ASCII
            yield
    else:
        console.print(message, soft_wrap=True)
        yield


def say(console: Console, line: str) -> None:
    """Print a line as it is, however narrow the terminal is; nothing where the terminal has gone."""
    with contextlib.suppress(OSError):
        console.print(line, soft_wrap=True, highlight=False, markup=False)


def say_nothing_to_keep(console: Console) -> None:
    """Say that a run ends before its first update is complete, and leave a live display, on any thread."""
    say(console, "Stopped before the first update was complete; there is nothing to keep.")
    console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
    console.show_cursor()


def _formatted(metrics: Metrics, name: str, style: str) -> str:
    value = metrics.get(name, math.nan)
    return "–" if math.isnan(value) else format(value, style)


def duration(seconds: float) -> str:
    """``1:02:03``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
