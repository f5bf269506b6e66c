"""Metrics for people: the terminal and the learning curve. Each is a sink of plain dicts."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

Metrics = Mapping[str, float]

SMOOTHED_PARTS = 20
"""The trailing mean runs over one of so many parts of a run, lest it lag behind a short one."""

# Shown name, metric, format.
_HEADLINES = (
    ("steps/s", "steps_per_second", ",.0f"),
    ("return", "train/mean_episode_return", ".3f"),
    ("length", "train/mean_episode_length", ".1f"),
    ("entropy", "train/entropy", ".3f"),
    ("KL", "train/approx_kl", ".4f"),
    ("clipped", "train/clip_frac", ".1%"),
    ("highest stage", "stats/highest_stage", ".0f"),
)


class ConsoleProgress:
    """Progress of a run of ``total_timesteps``: a live panel on a terminal, plain lines elsewhere.

    Use it as a context.
    """

    def __init__(self, total_timesteps: int, console: Console) -> None:
        self._console = console
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

    def __enter__(self) -> "ConsoleProgress":
        self._bar.start_task(self._task)
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live:
            self._live.stop()

    def write(self, metrics: Metrics) -> None:
        """Show the newest metrics."""
        if self._live:
            self._bar.update(self._task, completed=metrics["timesteps"])
            self._live.update(self._panel(metrics))
        else:
            self._console.print(self._line(metrics), soft_wrap=True, highlight=False)

    def advance(self, timesteps: int) -> None:
        """Move the bar between two ``write``."""
        self._bar.update(self._task, completed=timesteps)

    def stopping(self) -> None:
        """Say that the run will end after the current chunk."""
        self._console.print("Stopping after the current chunk; a second Ctrl-C stops at once and writes nothing.")

    def _panel(self, metrics: Metrics) -> Table:
        figures = Table(box=None, padding=(0, 2, 0, 0))
        for shown, _, _ in _HEADLINES:
            figures.add_column(shown, justify="right")
        figures.add_row(*(_formatted(metrics, name, style) for _, name, style in _HEADLINES))
        panel = Table.grid()
        panel.add_row(self._bar)
        panel.add_row(figures)
        return panel

    def _line(self, metrics: Metrics) -> str:
        seconds_left = (self._total - metrics["timesteps"]) * metrics["seconds"] / metrics["timesteps"]
        figures = "  ".join(f"{shown} {_formatted(metrics, name, style)}" for shown, name, style in _HEADLINES)
        return f"{metrics['timesteps']:,.0f} of {self._total:,} steps  {figures}  {_duration(seconds_left)} left"


class LearningCurve:
    """Keeps the metrics of a run and draws return, entropy and highest stage over its steps."""

    def __init__(self) -> None:
        self._rows: list[dict[str, float]] = []

    def write(self, metrics: Metrics) -> None:
        """Remember a point."""
        self._rows.append(dict(metrics))

    @property
    def has_points(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self._rows)

    def save(self, path: Path, title: str) -> None:
        """Draw all points into a PNG."""
        figure = Figure(figsize=(9, 10), layout="constrained")
        axes = figure.subplots(3, 1, sharex=True)
        figure.suptitle(title)
        steps = self._column("timesteps") / 1e6
        _draw_smoothed(axes[0], steps, self._column("train/mean_episode_return"))
        axes[0].set(title="Return of finished episodes", ylabel="mean return (reward units)")
        _draw_smoothed(axes[1], steps, self._column("train/entropy"))
        axes[1].set(title="Entropy of the policy", ylabel="entropy (nats)")
        axes[1].set_ylim(0, 1.1 * axes[1].get_ylim()[1])
        axes[2].step(steps, self._column("stats/highest_stage"), where="post", marker="." if len(steps) < 50 else "")
        axes[2].set(
            title="Highest stage in any game (9: game won)", ylabel="stage", xlabel="environment steps (millions)"
        )
        axes[2].set(ylim=(0.5, 9.5), yticks=range(1, 10))
        for axis in axes:
            axis.grid(alpha=0.3)
        figure.savefig(path, dpi=120)

    def _column(self, name: str) -> np.ndarray:
        return np.array([row[name] for row in self._rows], dtype=float)


@contextlib.contextmanager
def compiling(console: Console) -> Iterator[None]:
    """Show that compilation is going on: a spinner on a terminal, a line elsewhere."""
    message = "Compiling (once per configuration; later runs reuse the result)…"
    if console.is_terminal:
        with console.status(message):
            yield
    else:
        console.print(message, soft_wrap=True)
        yield


def _draw_smoothed(axis: Axes, steps: np.ndarray, values: np.ndarray) -> None:
    """Draw values as they are, and their trailing mean where there are points enough for one; NaNs are gaps."""
    known = ~np.isnan(values)
    steps, values = steps[known], values[known]
    axis.plot(steps, values, alpha=0.4, marker="." if len(values) < 50 else "", label="per logging interval")
    window = -(-len(values) // SMOOTHED_PARTS)
    if window > 1:
        sums = np.cumsum(np.concatenate([[0.0], values]))
        ends = np.arange(1, len(values) + 1)
        starts = np.maximum(0, ends - window)
        label = f"mean of the last {window} intervals"
        axis.plot(steps, (sums[ends] - sums[starts]) / (ends - starts), linewidth=2, label=label)
    if len(values):
        axis.legend(loc="best")


def _formatted(metrics: Metrics, name: str, style: str) -> str:
    value = metrics.get(name, math.nan)
    return "–" if math.isnan(value) else format(value, style)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
