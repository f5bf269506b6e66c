"""``hackmatrix watch``: watch a trained agent play."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hackmatrix.agents import AGENTS as SHIPPED
from hackmatrix.agents import BEST
from hackmatrix.cli.players import (
    AGENTS,
    add_agent_flags,
    add_game_flags,
    announce,
    caption_of,
    load,
    reading,
    say_passed_over,
    searcher_for,
    watched_of,
)
from hackmatrix.watch.controls import FASTEST, SLOWEST
from hackmatrix.world import ENGINES, WORLD
from parity.arguments import Parser, Real
from parity.console import open_console
from parity.errors import INTERRUPTED_EXIT_CODE
from worldkit.cli.outputs import check_output
from worldkit.render.display import has_display
from worldkit.render.film import FILMS

if TYPE_CHECKING:
    from hackmatrix.watch.agents import Agent
    from hackmatrix.watch.play import Moment, Watched
    from worldkit.envs.episodes import Episodes
    from worldkit.runs.stop import StopRequest

    Games = Iterator[Iterator[Moment]]

WINDOW, TEXT = "human", "ansi"
PAGE = ".html"
RECORDS = (*FILMS, PAGE)
_CHECKPOINTS = Path("checkpoints")


def main(argv: Sequence[str] | None = None, *, command: str = "watch") -> int:
    """Play episodes and show every board; the exit code is 0, or 130 where a signal asked for the end.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        ParityError: the agent cannot be used, nothing can be shown here, or a film cannot be written.
        EngineError: the engine is not built, or fails.
    """
    parser = _parser(command)
    args = parser.parse_args(argv)
    _check(parser, args)
    path, agent = _agent(args)
    # Imported only now: a mistaken command line should not have to wait.
    from hackmatrix.watch.play import games, recorded
    from worldkit.envs.episodes import Episodes
    from worldkit.runs.stop import StopRequest

    caption = f"{caption_of(path, args)}, {args.engine}"
    show = _in_window if args.render == WINDOW else _in_terminal if _is_terminal() else _as_text
    announce(args.engine)
    watched = watched_of(agent, args, searcher_for(path, args))
    with (
        StopRequest(give_up=lambda: None) as stop,
        closing(Episodes(WORLD, 1, args.engine, max_episode_steps=args.max_steps)) as episodes,
    ):
        _warm_up(episodes, watched)
        stop.begun()
        with _recording(args, caption, watched) as record:
            played = games(episodes, watched, args.seed, args.episodes)
            show(args, played if record is None else (recorded(game, record) for game in played), caption, stop)
    if args.record:
        print(f"Written: {args.record}")
    return INTERRUPTED_EXIT_CODE if stop.requested else 0


def _in_window(args: argparse.Namespace, played: Games, caption: str, stop: StopRequest) -> None:
    from hackmatrix.watch.controls import Controls, play
    from hackmatrix.watch.window import WindowScreen

    with closing(WindowScreen(caption)) as screen:
        for last in play(played, screen, Controls(args.speed), stop):
            print(last.verdict, flush=True)


def _in_terminal(args: argparse.Namespace, played: Games, caption: str, stop: StopRequest) -> None:
    from hackmatrix.watch.controls import Controls, play
    from hackmatrix.watch.terminal import Terminal

    verdicts: list[str] = []
    try:
        with Terminal(open_console(), caption) as screen:
            verdicts.extend(last.verdict for last in play(played, screen, Controls(args.speed), stop))
    finally:
        print("\n".join(verdicts))


def _as_text(args: argparse.Namespace, played: Games, caption: str, stop: StopRequest) -> None:
    """Block by block; nobody waits for a pipe."""
    from hackmatrix.watch.text import print_moment

    console = open_console()
    console.print(caption)
    for game in played:
        for moment in game:
            print_moment(console, moment)
            if console.is_terminal:
                time.sleep(1 / args.speed)
            if stop.requested:
                return
        console.print(moment.verdict)


def _agent(args: argparse.Namespace) -> tuple[Path, Agent]:
    """The agent's file and the agent; what was passed over on the way is said on standard error."""
    if args.agent:
        return load(args.agent, **reading(args))
    from hackmatrix.watch.agents import latest_agent

    path, agent, faults = latest_agent(args.latest, **reading(args))
    say_passed_over(faults)
    return path, agent


def _recording(
    args: argparse.Namespace, caption: str, watched: Watched
) -> AbstractContextManager[Callable[[Moment], None] | None]:
    """What keeps the moments that are shown: a film, a page, or nothing."""
    if not args.record:
        return nullcontext()
    if args.record.suffix == PAGE:
        from hackmatrix.view.record import page_of_moments

        return page_of_moments(args.record, caption, watched, args.engine)
    from hackmatrix.watch.record import film_of_moments

    return film_of_moments(args.record, caption, args.speed)


def _warm_up(episodes: Episodes, watched: Watched) -> None:
    """Play a step, so that the JAX engine and the search compile before the screen is taken over."""
    seen = episodes.observation, episodes.mask, episodes.seeds, episodes.statistics.steps
    actions = watched.searcher(*seen) if watched.searcher else episodes.mask.argmax(axis=1).astype(np.int32)
    episodes.begin_step(actions)
    episodes.finish_step()


def _is_terminal() -> bool:
    """Whether somebody can press keys and see pages."""
    return sys.stdin.isatty() and open_console().is_terminal and not open_console().is_dumb_terminal


def _check(parser: Parser, args: argparse.Namespace) -> None:
    """Settle what is watched and where; exits with one sentence where that cannot be."""
    given = [agent for agent in (args.agent, args.model, args.latest) if agent is not None]
    if len(given) > 1:
        parser.error("give one agent to watch: a file or a folder (PATH or --model), or --latest")
    if not given:
        args.agent = SHIPPED[BEST]
    args.agent = args.agent or args.model
    if args.record and args.record.suffix not in RECORDS:
        parser.error(f"--record writes {', '.join(FILMS)} or {PAGE}, not {args.record.name!r}")
    check_output(parser, args.record and str(args.record))
    if args.render is None:
        args.render = WINDOW if has_display() and find_spec("pygame") else TEXT


def _parser(command: str) -> Parser:
    parser = Parser(
        prog=f"hackmatrix {command}",
        description="Watch a trained agent play, in a window or in the terminal.",
        epilog="Keys: space pause, s one step, + faster, - slower, n next game, q quit. Without a terminal every board "
        "is printed as text.",
        allow_abbrev=False,
    )
    agent = parser.add_argument_group("agent")
    agent.add_argument("agent", nargs="?", type=Path, metavar="PATH", help=f"{AGENTS} (default {BEST})")
    agent.add_argument("--model", type=Path, metavar="FILE", help="the same")
    agent.add_argument(
        "--latest",
        nargs="?",
        type=Path,
        const=_CHECKPOINTS,
        metavar="DIR",
        help=f"the furthest agent of the run that began last in a folder (default {_CHECKPOINTS})",
    )
    add_agent_flags(agent)
    game = parser.add_argument_group("games")
    add_game_flags(game, episodes=1)
    game.add_argument("--engine", choices=ENGINES, default="swift", help="(default swift)")
    shown = parser.add_argument_group("screen")
    shown.add_argument(
        "--render",
        choices=(WINDOW, TEXT),
        help="a window, or text in the terminal (default: a window where there is a display)",
    )
    shown.add_argument(
        "--speed",
        type=Real(SLOWEST, FASTEST),
        default=4.0,
        metavar="N",
        help="actions a second (default 4)",
    )
    shown.add_argument("--record", type=Path, metavar="FILE", help="also write a film, .mp4 or .gif, or a page, .html")
    return parser


if __name__ == "__main__":
    sys.exit(main())
