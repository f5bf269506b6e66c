"""Make the pictures and the table of the pages on Goodharts, from what `make goodharts` left.

    python studies/goodharts_pictures.py FOLDER [FOLDER …] [--curves FILE]

Each folder is one in which `make goodharts` was run, with a seed of its own. The table of what all of them came to is
printed; the dashboard and the agent in the pictures are those of the first. With --curves nothing but the curves is
drawn, into another file: those of runs with other settings.
"""

import argparse
import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import gymnasium as gym
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from shared.pictures import IMAGES, browser

from goodharts.cli.main import main as goodharts
from goodharts.evaluation.report import FIGURES, TABLE, EvaluationResult, read_results
from goodharts.rules import DEFAULT_MODES
from goodharts.training.train_ppo import TITLE, action_labels
from rlparity.errors import ParityError, UsageError
from rlparity.io.arguments import Parser
from rlparity.io.atomic_write import write_whole
from rlworldkit.cli.outputs import fail
from rlworldkit.pictures import drawn
from rlworldkit.runs.live_page import LivePage
from rlworldkit.runs.stop import StopRequest

COLOURS = dict(zip(DEFAULT_MODES, ("#1b7f4d", "#7a5195", "#e07b39", "#c2324a"), strict=True))
CURVES = {
    "food": "food eaten in 1,000 steps",
    "poison": "poison eaten in 1,000 steps",
    "terminated": "deaths in 1,000 steps",
}
_BIN = 4
"""Updates that are averaged to one point of a curve."""

_STEPS_SHOWN = 20
_SHARE_SHOWN = 0.75
"""Share of the updates that the picture of the dashboard shows."""

Columns = Mapping[str, NDArray[np.float64]]


def main() -> None:
    """Read the command line, print the table, and draw."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--curves", type=Path, metavar="FILE")
    args = parser.parse_args()
    try:
        print(table([read_results(folder / "models" / "goodharts.json") for folder in args.folders]))
        write_whole(args.curves or IMAGES / "goodharts-full-length.png", curves(args.folders))
        if args.curves:
            return
        write_whole(IMAGES / "goodharts-dashboard.png", dashboard(args.folders[0]))
        Image.fromarray(game()).save(IMAGES / "goodharts.png", optimize=True)
        model = args.folders[0] / "models" / "ppo_ground_truth.pth"
        agent = ["--model", str(model), "--seed", "16", "--steps", "40", "--render", "ansi"]
        goodharts(["brain-view", *agent, "--record", str(IMAGES / "goodharts-brain-view.png")])
    except ParityError as error:
        fail(error)


def table(runs: Sequence[Sequence[EvaluationResult]]) -> str:
    """Make a Markdown table with a row for each player, and in each column its figure in every run."""
    lines = [" | ".join(("| mode", *(FIGURES[name].title for name in TABLE))) + " |", "|---" * (1 + len(TABLE)) + "|"]
    for player in (each.player for each in runs[0]):
        found = [next(each for each in run if each.player == player) for run in runs]
        cells = (", ".join(_shown(name, each.figures[name]["mean"]) for each in found) for name in TABLE)
        lines.append(" | ".join((f"| `{player}`", *cells)) + " |")
    return "\n".join(lines)


def _shown(name: str, value: float) -> str:
    return format(value, FIGURES[name].style).replace("-", "−")


def curves(folders: Sequence[Path]) -> bytes:
    """Draw a PNG of food, poison and deaths in training episodes over the steps; a line for each mode and run."""
    figure = Figure(figsize=(8, 9.5), layout="constrained")
    axes: list[Axes] = list(figure.subplots(len(CURVES), 1, sharex=True))
    for folder in folders:
        for mode in DEFAULT_MODES:
            episodes = _episodes(folder, mode)
            for axis, name in zip(axes, CURVES, strict=True):
                axis.plot(*_curve(episodes, name), color=COLOURS[mode], alpha=0.8, linewidth=1.2)
    for axis, title in zip(axes, CURVES.values(), strict=True):
        axis.set(ylabel=title)
        axis.grid(alpha=0.3)
    for mode, colour in COLOURS.items():
        axes[0].plot([], [], color=colour, label=mode)
    axes[0].legend(loc="upper left")
    axes[-1].set(xlabel="environment steps (millions)")
    return drawn(figure)


def dashboard(folder: Path) -> bytes:
    """Take a PNG of the dashboard in the middle of a logged training; needs Chromium."""
    logs = {mode: _rows(folder, mode, "updates") for mode in DEFAULT_MODES}
    page = LivePage(
        TITLE, {mode: int(rows[-1]["timesteps"]) for mode, rows in logs.items()}, StopRequest(), actions=action_labels()
    )
    page.start()
    for rows in zip(*logs.values(), strict=True):
        if int(rows[0]["update"]) > _SHARE_SHOWN * len(logs[DEFAULT_MODES[0]]):
            break
        for mode, row in zip(logs, rows, strict=True):
            page.write({name: float(text or "nan") for name, text in row.items()}, mode)
    with browser() as opened:
        screen = opened.new_page(viewport={"width": 1280, "height": 900})
        screen.goto(page.url)
        screen.locator("figure polyline").last.wait_for(state="attached")
        shot = screen.screenshot(full_page=True)
    page.close()
    return shot


def game() -> NDArray[np.uint8]:
    """Draw ``rgb_array`` of a game after some random steps."""
    env = gym.make("Goodharts-v0", render_mode="rgb_array")
    env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(_STEPS_SHOWN):
        env.step(env.action_space.sample())
    frame = np.asarray(env.render(), np.uint8)
    env.close()
    return frame


def _rows(folder: Path, mode: str, what: str) -> list[dict[str, str]]:
    """Read the last log of a mode."""
    # match the timestamp after the mode, since one mode's name may be the prefix of another's
    paths = sorted(folder.glob(f"logs/{mode}_[0-9]*_{what}.csv"))
    if not paths:
        raise UsageError(f"There is no log of {mode} in {folder / 'logs'}: run `make goodharts` there.")
    with paths[-1].open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _episodes(folder: Path, mode: str) -> Columns:
    """Read the columns of a mode's log of episodes."""
    columns = defaultdict(list)
    for row in _rows(folder, mode, "episodes"):
        for name, value in row.items():
            columns[name].append(float(value))
    return {name: np.array(values) for name, values in columns.items()}


def _curve(episodes: Columns, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points of a curve: millions of steps, and the rate of an event per 1,000 steps of the episodes ended since."""
    part = ((episodes["update"] - 1) // _BIN).astype(int)
    steps, happened = np.bincount(part, episodes["length"]), np.bincount(part, episodes[name])
    known = steps > 0
    ends = np.array([episodes["timesteps"][part == number].max() for number in np.flatnonzero(known)])
    return ends / 1e6, 1000 * happened[known] / steps[known]


if __name__ == "__main__":
    main()
