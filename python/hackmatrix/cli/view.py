"""``hackmatrix view``: a page of an agent's games, of a trace or of a run of training."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from hackmatrix.agents import name_of
from hackmatrix.cli.players import (
    AGENTS,
    PROGRAM,
    add_agent_flags,
    add_game_flags,
    announce,
    caption_of,
    find,
    load,
    reading,
    searcher_for,
    watched_of,
)
from hackmatrix.world import ENGINES, WORLD
from parity.arguments import Parser
from parity.console import open_console, typed_command
from parity.errors import UsageError
from parity.guard import DEFAULT_TIMEOUT
from worldkit.cli.outputs import check_output

if TYPE_CHECKING:
    from hackmatrix.view.agent import Games
    from parity.trace import Trace
    from parity.viewer.page import Episode, Page

TRACE = ".json"
AGENT = (".npz", ".pkl", ".zip")
_EPISODES = 20
_OF_AGENTS = (
    "episodes",
    "seed",
    "max_steps",
    "stochastic",
    "search",
    "player_seed",
    "hidden_dim",
    "num_layers",
    "trust",
)
"""What the flags settle that a trace has settled already."""


def main(argv: Sequence[str]) -> int:
    """Write a page, say where, and return the exit code, 0.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        ParityError: what is to be shown cannot be used, or the page cannot be written.
        EngineError: an engine is not built, or fails.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    _check(parser, args)
    command = typed_command(*PROGRAM, "view", *argv)
    make = _of_run if args.path.is_dir() else _of_trace if args.path.suffix == TRACE else _of_agent
    # Imported only now: a mistaken command line should not have to wait.
    from parity.viewer.write import write_page

    page = make(args, command)
    write_page(replace(page, episodes=_counted(page.episodes, args.episodes)), WORLD, args.output)
    print(f"Written: {args.output}")
    return 0


def _of_agent(args: argparse.Namespace, command: str) -> Page:
    from hackmatrix.view.agent import agent_page

    path, agent = load(args.path, **reading(args))
    games = _games(args)
    announce(games.engine)
    watched = watched_of(agent, args, searcher_for(path, args))
    return agent_page(caption_of(path, args), watched, games, command)


def _of_run(args: argparse.Namespace, command: str) -> Page:
    """The curves of a run and games of its furthest agent; of a run that has only one of these, that one."""
    from hackmatrix.view.agent import agent_page
    from hackmatrix.view.run import curves
    from parity.viewer.page import Page

    drawn, name = curves(args.path), args.path.resolve().name
    found = find(args.path, **reading(args))
    if found is None:
        if not drawn:
            raise UsageError(f"{args.path} holds no run: name a folder that training wrote, or an agent's file.")
        print(f"{args.path} has no agent yet: the page shows the curves alone.", file=sys.stderr)
        return Page(headline=f"{name}: no agent yet", sides=(), episodes=(), command=command, curves=drawn)
    path, agent = found
    games = _games(args)
    announce(games.engine)
    watched = watched_of(agent, args, searcher_for(path, args))
    page = agent_page(f"{name}, {caption_of(path, args)}", watched, games, command)
    return replace(page, curves=drawn)


def _of_trace(args: argparse.Namespace, command: str) -> Page:
    from hackmatrix.explain.traces import read_own_trace
    from hackmatrix.view.trace import trace_page
    from parity.finding import replayed
    from parity.report import report_page

    trace = read_own_trace(args.path)
    for name in (args.engine,) if args.engine else dict.fromkeys(trace.engines):
        announce(name)
    names = (args.engine,) if args.engine else _openable(trace)
    if len(names) == 1:
        return trace_page(args.path.name, trace, names[0], command)
    one, other = names
    report = replayed(WORLD, trace, args.path, (one, other), timeout=DEFAULT_TIMEOUT, command=command)
    return report_page(report)


def _openable(trace: Trace) -> tuple[str, ...]:
    """The engines that a trace names and that can be opened; why others cannot is said on standard error."""
    from hackmatrix.view.trace import sides_of

    names, faults = sides_of(trace)
    for fault in faults:
        print(f"Shown on {names[0]} alone: {fault}", file=sys.stderr)
    return names


def _counted(episodes: Iterable[Episode], total: int) -> Iterator[Episode]:
    """The same episodes, and a bar on standard error while they are taken; silent without a terminal."""
    console = open_console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield from bar.track(episodes, total, description="games")


def _games(args: argparse.Namespace) -> Games:
    from hackmatrix.view.agent import Games

    return Games(args.seed, args.episodes, args.engine or next(iter(ENGINES)), args.max_steps)


def _check(parser: Parser, args: argparse.Namespace) -> None:
    """Settle what is shown and where the page goes; exits with one sentence where that cannot be."""
    args.path = WORLD.agent_at(args.path)
    if not os.path.exists(args.path):  # pathlib's own raises for a name that no file can have
        parser.error(f"there is no {args.path}: name a trace, an agent or the folder of a run")
    if not args.path.is_dir() and args.path.suffix not in (TRACE, *AGENT):
        parser.error(f"{args.path} is nothing that can be viewed: name a trace (*.json), {AGENTS}")
    if args.path.suffix == TRACE and not args.path.is_dir():
        given = [name for name in _OF_AGENTS if getattr(args, name) != parser.get_default(name)]
        if given:
            parser.error(f"a trace brings its own game: leave out --{given[0].replace('_', '-')}")
    args.output = args.output or Path(_default_name(args.path))
    check_output(parser, str(args.output))


def _default_name(path: Path) -> str:
    """A file in the working directory, named after what is shown; an agent's after its run too."""
    whole = path.resolve()
    if path in WORLD.agents.values():
        return f"{name_of(path)}.html"
    if path.suffix in AGENT and not path.is_dir():
        return f"{whole.parent.name}-{whole.stem}.html"
    return f"{whole.name if path.is_dir() else whole.stem}.html"


def _parser() -> Parser:
    parser = Parser(
        prog="hackmatrix view",
        description="Write one HTML page of an agent's games, of a trace file, or of a run of training.",
        allow_abbrev=False,
    )
    parser.add_argument("path", type=Path, metavar="PATH", help=f"a trace file (*.json), {AGENTS}")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where the page goes (default: PATH's name, in the working directory)",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        help="plays the games (default swift), or replays a trace (default: both engines that it names)",
    )
    add_agent_flags(parser.add_argument_group("agent, or a run's furthest one"))
    add_game_flags(parser.add_argument_group("games"), episodes=_EPISODES)
    return parser
