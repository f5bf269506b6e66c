"""``goodharts brain-view``: watch a trained agent, what it sees and what goes on inside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import track

from goodharts.brain_view import KINDS
from goodharts.config import DEVICE
from goodharts.rules import DEFAULT_MODE, MODES
from rlparity.errors import UsageError
from rlparity.io.arguments import SEED, STEPS, FloatRange, OutputFile, Parser
from rlparity.io.console import counted, open_console
from rlworldkit.render.display import has_display
from rlworldkit.runs.stop import StopRequest
from rlworldkit.watch.controls import Controls

if TYPE_CHECKING:
    from goodharts.brain_view.player import ActivationFrame

_RECORDED = 240
_SPEED = FloatRange(0.1, 240)


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
    from goodharts.brain_view.picture import Caption
    from goodharts.brain_view.player import Player
    from goodharts.brain_view.showing import record, view
    from goodharts.devices import choose_device
    from goodharts.models import model_path, read_model_of

    device, path = choose_device(args.device), args.model or model_path(args.mode or DEFAULT_MODE)
    model = read_model_of(path, args.mode)
    numbers = numbers_of(model, source=str(path))
    player = Player(model, numbers, seed=args.seed, deterministic=args.deterministic, device=device)
    caption = Caption.of(model)
    if args.record is None:
        view(player, caption, Controls(args.speed, _SPEED.most), steps=args.steps or math.inf)
        return 0
    with StopRequest() as stop:
        steps = args.steps or _RECORDED
        pictures = record(args.record, _followed(player.moments(steps), steps, stop), caption, args.speed)
    moment = player.moment
    print(
        f"Saved {args.record}: {counted(pictures, 'picture')}, {moment.steps:,} steps with "
        f"{moment.food:,} food, {moment.poison:,} poison and {moment.deaths:,} deaths."
    )
    return 0


def _followed(moments: Iterable[ActivationFrame], steps: int, stop: StopRequest) -> Iterator[ActivationFrame]:
    """The moments, with progress on a terminal; on request no more of them, so that what there is gets saved."""
    console = open_console(stderr=True)
    is_hidden = not console.is_terminal
    for moment in track(moments, "Recording", steps, console=console, transient=True, disable=is_hidden):
        yield moment
        if stop.requested:
            return


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
    parser.add_argument("--seed", type=SEED, default=0, metavar="N", help="of game and drawn actions (default 0)")
    parser.add_argument(
        "--steps", type=STEPS, metavar="N", help=f"end after so many (default {_RECORDED} in a recording, else never)"
    )
    parser.add_argument("--deterministic", action="store_true", help="take the likeliest actions")
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
    return parser
