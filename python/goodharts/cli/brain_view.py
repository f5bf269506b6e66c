"""``goodharts brain-view``: watch a trained agent, what it sees and what goes on inside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import track

from goodharts.config import DEVICE
from goodharts.rules import DEFAULT_MODE, MODES
from rlparity.errors import UsageError
from rlparity.io.arguments import SEED, STEPS, FloatRange, OutputFile, Parser
from rlparity.io.console import counted, open_console
from rlworldkit.cli.players import add_choice_flags, add_older_names, choice_of
from rlworldkit.render.display import has_display
from rlworldkit.render.film import FILMS
from rlworldkit.runs.stop import StopRequest
from rlworldkit.watch.controls import Controls, play

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from goodharts.brain_view.brain import Brain

PICTURE = ".png"
KINDS = (*FILMS, PICTURE)
"""Suffixes of recordings: a video, an animation, or the last moment alone."""
_RECORDED = 240
_SPEED = FloatRange(0.1, 240)
_MOST_LATE = 0.1
"""Seconds by which pictures may be late: at high speeds some are left out."""
_KEYS = "space: pause    right: one step    up, down: speed    n: next life    q: quit"


def main(argv: Sequence[str] | None = None) -> int:
    """Show an agent in a window, or record it; the exit code is 0.

    Raises UsageError where there is no such model or device, no display, or the file cannot be written.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    if args.record is not None and args.record.suffix.lower() not in KINDS:
        parser.error(f"cannot record {args.record}: name a file that ends in {', '.join(KINDS)}")
    if args.record is None and not has_display():
        raise UsageError("There is no display to open a window on: add --record FILE.mp4 (or .gif, .png) to save it.")
    # Imported only now: a mistaken command line should not have to wait for torch.
    from goodharts.agents import numbers_of
    from goodharts.brain_view.brain import Brain
    from goodharts.cli.main import PROGRAM
    from goodharts.devices import choose_device
    from goodharts.models import model_path, read_model

    device, path = choose_device(args.device), args.model or model_path(args.mode or DEFAULT_MODE)
    PROGRAM.world_of(args.mode, path)  # raises where the model is of another mode
    model = read_model(path)
    numbers = numbers_of(model.config, source=str(path))
    brain = Brain(model, numbers, seed=args.seed, choice=choice_of(args), device=device)
    if args.record is None:
        view(brain, Controls(args.speed, _SPEED.most), args.steps or math.inf)
    else:
        pictures = record(brain, args.record, args.steps or _RECORDED, args.speed)
        print(
            f"Saved {args.record}: {counted(pictures, 'picture')}, {brain.steps:,} steps with "
            f"{brain.food:,} food, {brain.poison:,} poison and {brain.deaths:,} deaths."
        )
    return 0


def view(brain: Brain, controls: Controls, steps: float = math.inf) -> None:
    """Show an agent in a window until somebody quits or it has made its steps; raises ParityError without a window."""
    from goodharts.brain_view.picture import draw_surface
    from rlworldkit.watch.frames import Frame
    from rlworldkit.watch.window import WindowScreen

    screen: WindowScreen[Frame] = WindowScreen(
        f"Goodharts: {brain.model.mode}", lambda _, now: draw_surface(brain, f"{now.pace}    {_KEYS}")
    )
    with closing(screen), StopRequest() as stop:
        for _ in play(brain.lives(steps), screen, controls, stop, _MOST_LATE):
            pass


def record(brain: Brain, path: Path, steps: int, fps: float) -> int:
    """Write the moments of so many steps into a file of one of the ``KINDS``, of a ``.png`` the last; return how many.

    On request no more of them, so that what there is gets saved. Raises UsageError where the file cannot be written;
    what was there before stays.
    """
    from goodharts.brain_view.picture import draw_picture

    console, written = open_console(stderr=True), 0
    frames = chain.from_iterable(brain.lives(steps))
    with StopRequest() as stop, _file(path, fps) as add:
        for _ in track(frames, "Recording", steps, console=console, transient=True, disable=not console.is_terminal):
            if path.suffix.lower() != PICTURE or stop.requested or brain.steps == steps:
                add(draw_picture(brain))
                written += 1
            if stop.requested:
                break
    return written


@contextmanager
def _file(path: Path, fps: float) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    """A function that adds pictures to a film, or saves the one of a PNG."""
    from PIL import Image

    from goodharts.brain_view.picture import HEIGHT, WIDTH
    from rlparity.io.atomic_write import replacing, telling_failures
    from rlworldkit.render.film import film

    if path.suffix.lower() != PICTURE:
        with film(path, (WIDTH, HEIGHT), fps) as add:
            yield add
        return
    with telling_failures(path), replacing(path) as file:
        yield lambda picture: Image.fromarray(picture).save(file, "PNG", optimize=True)


def _parser() -> Parser:
    parser = Parser(
        prog="goodharts brain-view",
        description="Watch a trained agent live: the grid around it, what it sees of that, the activations of its "
        "network, what it does and how it fares. It lives by the rules of an evaluation.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-m", "--mode", choices=tuple(MODES), help=f"(default {DEFAULT_MODE}, or that of the model)", metavar="MODE"
    )
    parser.add_argument("--model", type=Path, metavar="FILE", help="(default models/ppo_{mode}.pth)")
    parser.add_argument("--seed", type=SEED, default=0, metavar="N", help="of the game (default 0)")
    parser.add_argument(
        "--steps", type=STEPS, metavar="N", help=f"end after so many (default {_RECORDED} in a recording, else never)"
    )
    add_choice_flags(parser, searches=False)
    parser.add_argument(
        "--speed", "--fps", type=_SPEED, default=8, metavar="N", help=f"steps a second, {_SPEED.span()} (default 8)"
    )
    parser.add_argument(
        "--record",
        type=OutputFile(),
        metavar="FILE",
        help="open no window, but save a video (.mp4), an animation (.gif) or the last moment (.png)",
    )
    parser.add_argument("--device", type=DEVICE, default="cpu", metavar="NAME", help="of torch (default cpu)")
    add_older_names(parser)
    return parser
