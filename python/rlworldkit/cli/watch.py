"""``watch``: watch a trained agent play."""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from rlparity import World
from rlparity.core.prices import read_prices
from rlparity.errors import INTERRUPTED_EXIT_CODE, UsageError
from rlparity.io.arguments import STEPS, FloatRange, OutputFile, Parser
from rlparity.io.console import open_console
from rlworldkit.agents.agent import Agent, AgentPlayer
from rlworldkit.agents.reader import agents_text, first_agent, read_agent
from rlworldkit.cli import players
from rlworldkit.ppo.params import trained_files
from rlworldkit.program import Program
from rlworldkit.render.display import has_display, require_display
from rlworldkit.render.film import FILMS, PICTURE
from rlworldkit.show.watch.controls import FASTEST, SLOWEST

if TYPE_CHECKING:
    from rlworldkit.envs.episodes import Episodes
    from rlworldkit.runs.stop import StopRequest
    from rlworldkit.show.watch.frames import Frame

    Games = Iterator[Iterator[Frame]]

WINDOW, TEXT = "human", "ansi"
PAGE = ".html"
RECORDS = (*FILMS, PICTURE, PAGE)
_CHECKPOINTS = Path("checkpoints")
_RECORDED = 240
"""Default number of steps of a recording of endless games."""


def main(
    program: Program,
    argv: Sequence[str],
    *,
    command: str = "watch",
    following: Callable[[World, Agent], World] | None = None,
) -> int:
    """Play episodes and show every board; return 0, or 130 if a signal asked for the end.

    following: maps an agent's world to the world in which its game, and the games that follow by that world's rule, are
    shown without end; None: the agent plays ``--games`` games, each from its own seed.
    """
    parser = _parser(program, command, is_endless=following is not None)
    args = parser.parse_args(argv)
    _check(parser, args)
    world = program.world_of(args.mode, args.agent).with_prices(read_prices(args.price, args.prices))
    agent = _agent(world, args)
    if following is not None:
        world, args.max_steps = following(world, agent), None
        args.steps = args.steps or (_RECORDED if args.record else None)
    player = players.player_of(world, agent, args)
    # Imported only now, so that a mistaken command line fails at once.
    from rlworldkit.envs.episodes import Episodes
    from rlworldkit.runs.stop import StopRequest
    from rlworldkit.show.watch.frames import games

    show = _in_window if args.render == WINDOW else _in_terminal if _is_terminal() else _as_text
    args.engine = players.engine_of(world, args.engine)
    caption = f"{players.caption_of(world, player)}, {args.engine}"
    opened = closing(Episodes(world, 1, engine=args.engine, max_episode_steps=args.max_steps))
    with StopRequest(give_up=lambda: None) as stop, opened as episodes:
        with players.playing(program, [args.engine]):
            _warm_up(episodes, player)
        stop.begun()
        with _recording(args, caption, world, player, episodes) as record:
            played = games(episodes, player, args.seed, args.episodes if following is None else None)
            show(args, _shown(played, args.steps or math.inf, record), world, caption, stop)
    if args.record:
        print(f"Written: {args.record}")
    return INTERRUPTED_EXIT_CODE if stop.requested else 0


def _shown(played: Games, steps: float, record: Callable[[Frame], None] | None) -> Games:
    """Limit games to a number of steps in total, and record each frame before it is shown."""

    def counted(game: Iterator[Frame]) -> Iterator[Frame]:
        nonlocal steps
        for frame in game:
            steps -= frame.decision is not None
            if record is not None:
                record(frame)
            yield frame
            if steps <= 0:
                return

    for game in played:
        yield counted(game)
        if steps <= 0:
            return


def _in_window(args: argparse.Namespace, played: Games, world: World, caption: str, stop: StopRequest) -> None:
    from rlworldkit.show.watch.controls import Controls, play
    from rlworldkit.show.watch.picture import WindowScreen

    with closing(WindowScreen(world.title, caption)) as window:
        for last in play(played, window, Controls(args.speed), stop):
            print(last.verdict, flush=True)


def _in_terminal(args: argparse.Namespace, played: Games, world: World, caption: str, stop: StopRequest) -> None:
    from rlworldkit.show.watch.controls import Controls, play
    from rlworldkit.show.watch.terminal import open_terminal

    verdicts: list[str] = []
    try:
        with open_terminal(open_console(), caption, world, args.engine) as screen:
            verdicts.extend(last.verdict for last in play(played, screen, Controls(args.speed), stop))
    finally:
        print("\n".join(verdicts))


def _as_text(args: argparse.Namespace, played: Games, world: World, caption: str, stop: StopRequest) -> None:
    """Print every board as text, with a delay between boards only on a terminal."""
    from rlworldkit.show.watch.terminal import print_frame

    console = open_console()
    console.print(caption)
    for game in played:
        for frame in game:
            print_frame(console, frame)
            if console.is_terminal:
                time.sleep(1 / args.speed)
            if stop.requested:
                return
        console.print(frame.verdict)


def _agent(world: World, args: argparse.Namespace) -> Agent:
    """Read the requested agent; files that were passed over are named on standard error."""
    if args.latest is None:
        name: Path | None = args.agent or next(iter(world.agents.values()), None)
        if name is None:
            raise UsageError(f"There is no agent to watch: name one, {agents_text(world)}, or give --latest.")
        return read_agent(world, name, **players.reading(args))
    found = first_agent(world, trained_files(args.latest), **players.reading(args))
    if found is None:
        raise UsageError(
            f"There is no params_*.npz or checkpoint_*.pkl in {args.latest}: name a file, or train an agent first."
        )
    return found


def _recording(
    args: argparse.Namespace, caption: str, world: World, player: AgentPlayer, episodes: Episodes
) -> AbstractContextManager[Callable[[Frame], None] | None]:
    """Open the film or the page that records the frames; its value is None without ``--record``."""
    if not args.record:
        return nullcontext()
    if args.record.suffix == PAGE:
        from rlworldkit.show.pages.agent import page_of_frames

        return page_of_frames(args.record, caption, world, player, args.engine)
    from rlworldkit.show.watch.picture import film_of_frames

    return film_of_frames(args.record, caption, args.speed, world, episodes.get_states()[0], player.agent)


def _warm_up(episodes: Episodes, player: AgentPlayer) -> None:
    """Play a step, so that the JAX engine and the search compile before the screen is taken over."""
    seen = episodes.observation, episodes.mask, episodes.seeds, episodes.statistics.steps
    episodes.begin_step(player(*seen))
    episodes.finish_step()


def _is_terminal() -> bool:
    return sys.stdin.isatty() and open_console().is_terminal and not open_console().is_dumb_terminal


def _check(parser: Parser, args: argparse.Namespace) -> None:
    if sum(agent is not None for agent in (args.agent, args.model, args.latest)) > 1:
        parser.error("give one agent to watch: a file or a folder (PATH or --model), or --latest")
    args.agent = args.agent or args.model
    if args.record and args.record.suffix not in RECORDS:
        parser.error(f"--record writes {', '.join(RECORDS[:-1])} or {PAGE}, not {args.record.name!r}")
    if args.render is None:
        args.render = WINDOW if has_display() and find_spec("pygame") else TEXT
    if args.render == WINDOW:
        require_display()


def _parser(program: Program, command: str, *, is_endless: bool) -> Parser:
    world = program.world
    parser = program.parser(
        command,
        "Watch a trained agent play in a window or in the terminal.",
        "Keys: space pause, s one step, + faster, - slower, n next game, q quit. Without a terminal, each board is "
        "printed as text.",
    )
    default = "".join(f" (default {name})" for name in [*world.agents][:1])
    parser.add_argument("agent", nargs="?", type=Path, metavar="PATH", help=f"agent: {agents_text(world)}{default}")
    parser.add_argument("--model", type=Path, metavar="FILE", help="the same as PATH")
    parser.add_argument(
        "--latest",
        nargs="?",
        type=Path,
        const=_CHECKPOINTS,
        metavar="DIR",
        help=f"watch the newest agent of the last started run in a folder (default {_CHECKPOINTS})",
    )
    shown = parser.add_argument_group("screen")
    shown.add_argument(
        "--render",
        choices=(WINDOW, TEXT),
        help="human: a window; ansi: text in the terminal (default: human if there is a display)",
    )
    shown.add_argument(
        "--speed",
        "--fps",
        type=FloatRange(SLOWEST, FASTEST),
        default=4.0,
        metavar="N",
        help="actions per second (default 4)",
    )
    text = "also write a film (.mp4, .gif), the last frame (.png) or a page (.html)"
    shown.add_argument("--record", type=OutputFile(), metavar="FILE", help=text)
    text = "stop after this many steps in total" + is_endless * f" (default {_RECORDED} in a recording)"
    shown.add_argument("--steps", type=STEPS, metavar="N", help=text)
    players.add_player_flags(parser, program, episodes=None if is_endless else 1, searches=not is_endless)
    return parser
