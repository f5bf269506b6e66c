"""``view``: a page of an agent's games, of a trace or of a run of training."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rlparity import World
from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.core.prices import changed_prices, read_prices
from rlparity.errors import UsageError
from rlparity.io.arguments import OutputFile, Parser
from rlparity.io.atomic_write import check_output
from rlworldkit.agents.reader import agent_files, agents_text, is_agent, player_names
from rlworldkit.cli import players
from rlworldkit.program import Program
from rlworldkit.runs.console import Advance
from rlworldkit.score import score_of

if TYPE_CHECKING:
    from rlparity.viewer.page import Page, PageEpisode

TRACE = ".json"
_EPISODES = 20
_GAME_FLAGS = ("episodes", "seed", "max_steps")
_AGENT_FLAGS = ("choose", "search", "player_seed", "hidden_dim", "num_layers", "trust")
"""Flags that a trace does not take."""


def main(program: Program, argv: Sequence[str]) -> int:
    """Write a page, print its path, and return 0."""
    parser = _parser(program)
    args = parser.parse_args(argv)
    _check(parser, args, program.world)
    world = program.world_of(args.mode, args.path)
    command = program.typed("view", *argv)
    make = _of_trace if args.path.suffix == TRACE and not args.path.is_dir() else _of_agent
    # Imported only now, so that a mistaken command line fails at once.
    from rlparity.viewer.write import write_page

    page = make(program, world, args, command)
    total = args.episodes if make is _of_agent and page.sides else None
    with players.playing(program, page.sides if total else (), total) as advance:
        write_page(replace(page, episodes=_counted(page.episodes, advance)), world, args.output)
    print(f"Written: {args.output}")
    return 0


def _counted(episodes: Iterable[PageEpisode], advance: Advance) -> Iterator[PageEpisode]:
    for episode in episodes:
        yield episode
        advance(1)


def _of_agent(program: Program, world: World, args: argparse.Namespace, command: str) -> Page:
    """Page of an agent's games; for a run, its furthest agent's games and its curves, or only what it has of both."""
    from rlparity.viewer.page import Page
    from rlworldkit.show.pages.agent import GameRange, agent_page
    from rlworldkit.show.pages.run import curves

    world = world.with_prices(read_prices(args.price, args.prices))
    is_run, name = args.path.is_dir(), args.path.resolve().name
    drawn = curves(args.path, score_of(world).milestone) if is_run else ()
    if is_run and not agent_files(world, args.path):
        if not drawn:
            raise UsageError(f"{args.path} holds no run: name a folder that training wrote, or an agent's file.")
        print(f"{args.path} has no agent yet: the page shows the curves alone.", file=sys.stderr)
        return Page(headline=f"{name}: no agent yet", sides=(), episodes=(), command=command, curves=drawn)
    player = players.player_of(world, args.path, args)
    games = GameRange(args.seed, args.episodes, players.engine_of(world, args.engine), args.max_steps)
    caption = players.caption_of(world, player)
    return replace(agent_page(world, f"{name}, {caption}" if is_run else caption, player, games, command), curves=drawn)


def _of_trace(program: Program, world: World, args: argparse.Namespace, command: str) -> Page:
    from rlparity.tools.finding import replayed
    from rlparity.tools.report import NextCommand, report_page
    from rlworldkit.show.pages.replay import read_own_trace
    from rlworldkit.show.pages.trace import sides_of, trace_page

    trace = read_own_trace(world, args.path)
    world = world.with_prices({**trace.prices, **read_prices(args.price, args.prices)})
    trace = replace(trace, prices=changed_prices(world))
    with players.playing(program, [args.engine] if args.engine else trace.engines):
        names, faults = ((args.engine,), []) if args.engine else sides_of(world, trace)
        for fault in faults:
            print(f"Shown on {names[0]} alone: {fault}", file=sys.stderr)
        if len(names) == 1:
            return trace_page(world, args.path.name, trace, names[0], command)
        (one, other), again = names, NextCommand("view again", shlex.split(command))
        return report_page(replayed(world, trace, args.path, (one, other), timeout=DEFAULT_TIMEOUT, following=(again,)))


def _check(parser: Parser, args: argparse.Namespace, world: World) -> None:
    args.path, is_player = world.agent_at(args.path), str(args.path) in player_names(world)
    if not is_player and not os.path.exists(args.path):  # Path.exists raises for a name that no file can have
        parser.error(f"there is no {args.path}: name a trace, an agent or the folder of a run")
    if not (is_player or args.path.is_dir() or args.path.suffix == TRACE or is_agent(world, args.path)):
        parser.error(f"{args.path} is nothing that can be viewed: name a trace (*.json), {agents_text(world)}")
    if args.path.suffix == TRACE and not args.path.is_dir():
        given = [name for name in (*_GAME_FLAGS, *_AGENT_FLAGS) if getattr(args, name) != parser.get_default(name)]
        if given:
            parser.error(f"a trace brings its own game: leave out --{given[0].replace('_', '-')}")
    args.output = args.output or Path(_default_name(world, args.path))
    check_output(args.output)


def _default_name(world: World, path: Path) -> str:
    """Name of a page in the working directory, after what it shows; an agent's page is named after its run, too."""
    whole = path.resolve()
    if path in world.agents.values():
        return f"{world.agent_name(path)}.html"
    if is_agent(world, path) and not path.is_dir():
        return f"{whole.parent.name}-{whole.stem}.html"
    return f"{whole.name if path.is_dir() else whole.stem}.html"


def _parser(program: Program) -> Parser:
    world = program.world
    description = "Write one HTML page of an agent's games, of a trace file, or of a run of training."
    parser = program.parser("view", description)
    parser.add_argument("path", type=Path, metavar="PATH", help=f"trace file (*.json) or agent: {agents_text(world)}")
    parser.add_argument(
        "--output",
        type=OutputFile(),
        metavar="FILE",
        help="HTML file to write (default: PATH's name, in the working directory)",
    )
    players.add_player_flags(
        parser, program, episodes=_EPISODES, engine="engine for a trace (default: the trace's two) or for the games"
    )
    return parser
