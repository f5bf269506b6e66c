"""Draw the learning curves of several runs into one picture: mean return over steps, and over hours of training.

    python studies/learning_curves.py NAME=RUN[,RUN...] [NAME=RUN[,RUN...] ...] [--picture FILE]

RUN is the folder of a run, NAME whatever its runs have in common: they get one colour and one line each. Both axes of
time are logarithmic, so that runs of a few minutes and of hours stand side by side.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from parity.arguments import Parser
from parity.errors import ParityError, UsageError
from rlworldkit.cli.outputs import check_output, fail, write_output
from rlworldkit.pictures import drawn, literal
from rlworldkit.runs.folder import METRICS
from rlworldkit.runs.sinks import read_csv

_RETURN = "train/mean_episode_return"
_COLOURS = ("#1b7f4d", "#7a5195", "#d98c2b", "#2b6cb0", "#b0413e", "#555555")


@dataclass(frozen=True)
class Group:
    """Runs that have a name in common; each an array (rows, 3): steps in millions, hours, mean return."""

    name: str
    runs: tuple[NDArray[np.float64], ...]


def main() -> None:
    """Read the command line, and draw."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="+", metavar="NAME=RUN[,RUN...]", help="runs, and what they are called")
    parser.add_argument("--picture", default="learning_curves.png", metavar="FILE", help="a PNG (learning_curves.png)")
    args = parser.parse_args()
    check_output(parser, args.picture)
    try:
        figure = figure_of([group_of(text) for text in args.groups])
    except ParityError as error:
        fail(error)
    write_output(args.picture, drawn(figure))


def group_of(text: str) -> Group:
    """The runs that ``NAME=RUN[,RUN...]`` names; raises UsageError where it names none, or one without metrics."""
    name, _, folders = text.partition("=")
    if not name or not folders:
        raise UsageError(f"{text} names no runs: write NAME=RUN or NAME=RUN,RUN.")
    return Group(name, tuple(_curve_of(Path(folder)) for folder in folders.split(",")))


def _curve_of(folder: Path) -> NDArray[np.float64]:
    rows = read_csv(folder / METRICS)
    columns = ("timesteps", "seconds", _RETURN)
    curve = np.array([[row.get(name, np.nan) for name in columns] for row in rows]).reshape(-1, 3)
    curve = curve[~np.isnan(curve).any(axis=1)] / (1e6, 3600, 1)
    if not len(curve):
        raise UsageError(f"There are no returns in {folder / METRICS}: name the folder of a run.")
    return curve


def figure_of(groups: Sequence[Group]) -> Figure:
    """The groups' curves as they were logged: on the left over steps, on the right over hours."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    by_steps, by_hours = figure.subplots(1, 2, sharey=True)
    lines = _draw(by_steps, groups, 0)
    _draw(by_hours, groups, 1)
    by_steps.set(xlabel="environment steps (millions)", ylabel="mean return (reward units)")
    by_hours.set(xlabel="hours of training by the clock")
    by_steps.legend(lines, [literal(group.name) for group in groups], loc="upper left")
    return figure


def _draw(axis: Axes, groups: Sequence[Group], column: int) -> list[Line2D]:
    """Draw every run; the first line of each group stands for all of its runs in the legend."""
    lines = []
    for index, group in enumerate(groups):
        colour = _COLOURS[index % len(_COLOURS)]
        drawn_lines = [axis.plot(run[:, column], run[:, 2], color=colour, linewidth=1.2) for run in group.runs]
        lines += drawn_lines[0]
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.grid(alpha=0.3)
    return lines


if __name__ == "__main__":
    main()
