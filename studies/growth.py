"""Measure how the cost of a step grows, and make the picture and the tables of docs/explanation/results.md.

    python studies/growth.py [--repetitions N] [--json FILE]

The games grow from 1 to 16,384 on one device, and the devices of 1,024 games from 1 to 8, each in a process of its own;
then 256 games start every step from boards with so many enemies, or in the midst of each stage. It takes many minutes,
and the Swift engine, which makes the boards.
"""

import argparse
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from shared import board_costs, growth
from shared.boards import boards
from shared.pictures import IMAGES

from hackmatrix.env import HackMatrixJaxEnv
from rlparity.errors import ParityError
from rlparity.io.arguments import STANDARD_OUTPUT, IntRange, Parser
from rlparity.io.atomic_write import write_whole
from rlworldkit.bench.records import MEBIBYTE, Record, as_json
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, fail, write_output
from rlworldkit.jax.xla import prefer_wide_vectors
from rlworldkit.pictures import drawn

SPLIT, ON_BOARDS = 1024, 256
"""Number of games that the devices share, and of games on each kind of board."""
_BY_CLOCK, _BY_PROCESSOR = "env_steps_per_second_", "env_steps_per_cpu_second_"
_GAMES, _DEVICES, _ENEMIES, _STAGE = "games", "devices", "enemies", "stage"
_TITLES = {
    _GAMES: "games on one device",
    _ENEMIES: "enemies of each game",
    _STAGE: "stage",
    _DEVICES: "virtual devices of one processor",
}
_LEFT, _RIGHT = "#1b7f4d", "#7a5195"

Points = dict[int, Record]


def main() -> None:
    """Read the command line, measure, print the tables, and draw."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=IntRange(1, 10_000), default=3, help="samples per figure (default: 3)")
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    args = parser.parse_args()
    prefer_wide_vectors()
    try:
        records = [
            *growth.measure("hackmatrix.cli.main", SPLIT, args.repetitions),
            *board_costs.measure(HackMatrixJaxEnv(), boards(ON_BOARDS), args.repetitions),
        ]
    except ParityError as error:
        fail(error)
    found = by_what(records)
    if args.json:
        write_output(args.json, as_json(records))
    if args.json != STANDARD_OUTPUT:
        for what, points in found.items():
            print(table(what, points))
    write_whole(IMAGES / "growth.png", picture(found))


def by_what(records: Sequence[Record]) -> dict[str, Points]:
    """Group the records by what grows, such as games or enemies, and by its number."""
    found: dict[str, Points] = {what: {} for what in _TITLES}
    for record in records:
        if not record.name.startswith((_BY_CLOCK, _BY_PROCESSOR)):
            continue  # the picture leaves out compact observations
        what, value = record.name.removeprefix(_BY_CLOCK).removeprefix(_BY_PROCESSOR).split("_")
        found[what][int(value)] = record
        if what == _DEVICES and value == "1":
            found[_GAMES][record.num_envs] = record
    games = found[_DEVICES][2].num_envs  # one device was measured with other numbers of games, too
    found[_DEVICES][1] = found[_GAMES][games]
    return {what: dict(sorted(points.items())) for what, points in found.items()}


def table(what: str, points: Points) -> str:
    """Make a Markdown table with a row for each point."""
    rows = [
        f"| {value:,} | {each.value:,.0f} | {each.spread:.0%} | {(each.peak_bytes or 0) / MEBIBYTE:,.0f} MiB |"
        for value, each in points.items()
    ]
    return "\n".join((f"| {_TITLES[what]} | {_unit(what)} | spread | memory |", "|---|---|---|---|", *rows, ""))


def _unit(what: str) -> str:
    return "steps/s" if what in (_GAMES, _DEVICES) else "steps/s of processor time"


def picture(found: dict[str, Points]) -> bytes:
    """Draw a PNG of speed over each growing number, and of memory where each point has its own process."""
    figure = Figure(figsize=(9, 7), layout="constrained")
    for axis, (what, points) in zip(figure.subplots(2, 2).flat, found.items(), strict=True):
        _draw(axis, what, points)
    return drawn(figure)


def _draw(axis: Axes, what: str, points: Points) -> None:
    has_memory = what in (_GAMES, _DEVICES)
    axis.plot(list(points), [record.value for record in points.values()], marker=".", color=_LEFT)
    axis.set(xlabel=_TITLES[what])
    axis.set_ylabel(_unit(what), color=_LEFT)
    axis.grid(alpha=0.3)
    if what == _GAMES:
        axis.set(xscale="log", yscale="log")
    else:
        axis.set_ylim(0, 1.1 * max(record.value for record in points.values()))
    if what in (_STAGE, _DEVICES):
        axis.set(xticks=list(points))
    if has_memory:
        memory = axis.twinx()
        peaks = [(record.peak_bytes or 0) / MEBIBYTE for record in points.values()]
        memory.plot(list(points), peaks, marker=".", color=_RIGHT)
        memory.set_ylim(0, 1.4 * max(peaks))
        memory.set_ylabel("peak of the process (MiB)", color=_RIGHT)


if __name__ == "__main__":
    main()
