"""``compare``: let the agents of groups of runs play the same games, and compare their returns."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from rlparity import World
from rlparity.core.prices import changed_prices, prices_note, read_prices
from rlparity.io.arguments import STANDARD_OUTPUT, FloatRange, OutputFile, Parser
from rlparity.io.console import open_console
from rlparity.io.intervals import FEWEST
from rlparity.io.strict_json import json_text
from rlworldkit.agents.agent import Agent, AgentPlayer
from rlworldkit.agents.reader import agent_files, read_agent
from rlworldkit.cli import players
from rlworldkit.cli.evaluate import add_evaluation_flags
from rlworldkit.cli.outputs import OUTPUT, write_output
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.program import Program
from rlworldkit.runs.console import print_line
from rlworldkit.runs.folder import CONFIG

if TYPE_CHECKING:
    from rlworldkit.evaluation.comparison import Groups

_PICTURES = (".png", ".svg", ".pdf")
_TARGET = FloatRange(-1e12, 1e12)


def main(program: Program, argv: Sequence[str]) -> int:
    """Play, print the comparison, write it if asked to, and return 0; raises UsageError if an agent cannot play."""
    parser = _parser(program)
    args = parser.parse_args(argv)
    named = checked_groups(parser, args)
    world = program.world_of(args.mode).with_prices(read_prices(args.price, args.prices))
    enable_compilation_cache(program.name)
    # Imported only now, so that a mistaken command line fails without waiting for JAX.
    from rlworldkit.evaluation.comparison import RETURN, ScoredRun
    from rlworldkit.evaluation.play import play_episodes

    runs = {
        name: [
            (label, agent.settings().get("seed"), players.player_of(world, agent, args))
            for member in members
            for label, agent in _agents(world, member, **players.reading(args))
        ]
        for name, members in named.items()
    }
    console = open_console(stderr=STANDARD_OUTPUT in (args.json, args.markdown))
    prices = prices_note(changed_prices(world))
    print_line(console, f"Each agent plays the games {args.seed} to {args.seed + args.episodes - 1}{prices}.")
    engine = players.engine_of(world, args.engine)
    sizes = {"engine": engine, "num_envs": args.num_envs, "max_steps": args.max_steps}
    with players.playing(program, [engine], args.episodes * sum(map(len, runs.values()))) as advance:

        def scored(agent: str, seed: object, player: AgentPlayer) -> ScoredRun:
            episodes = play_episodes(world, player, args.seed, args.episodes, **sizes, advance=advance)
            known = seed if isinstance(seed, int) else None
            return ScoredRun(agent, known, sum(episode.stats["return"] for episode in episodes) / len(episodes))

        groups = {name: [scored(*each) for each in of] for name, of in runs.items()}
    write_comparison(console, groups, args, RETURN)
    return 0


def checked_groups(parser: Parser, args: Any) -> dict[str, list[str]]:  # noqa: ANN401 - flags
    """Parse the members of the groups, by name; exits with one sentence if a group or an output is invalid."""
    if args.json == args.markdown == STANDARD_OUTPUT:
        parser.error("--json and --markdown cannot both be standard output: name a file for one")
    if args.picture and args.picture.suffix.lower() not in _PICTURES:
        parser.error(f"--picture must end in {', '.join(_PICTURES)}, got {str(args.picture)!r}")
    groups: dict[str, list[str]] = {}
    for word in args.group or ():
        name, _, members = word.partition("=")
        if not name or not all(members.split(",")):
            parser.error(f"--group must be NAME=RUN,RUN,…, got {word!r}")
        if name in groups:
            parser.error(f"a group's name must be given once, got {name!r} again")
        groups[name] = members.split(",")
    return groups


def write_comparison(console: Console, groups: "Groups", args: Any, score: str) -> None:  # noqa: ANN401 - flags
    """Print the comparison of groups of runs, and write it if asked to. score: the name of the score it compares."""
    from rlworldkit.evaluation.comparison import as_tables, compared, draw_comparison

    figures = compared(groups, args.target, score)
    tables = as_tables(figures)
    for table in tables:
        table.print(console)
    if args.json:
        write_output(args.json, json_text(figures, indent=2) + "\n")
    if args.markdown:
        write_output(args.markdown, "\n\n".join(table.markdown() for table in tables) + "\n")
    if args.picture:
        write_output(args.picture, draw_comparison(figures, args.picture.suffix[1:].lower()))


def _agents(world: World, member: str, **how: Any) -> Iterator[tuple[str, Agent]]:  # noqa: ANN401 - as read_file
    """Read the agents of a member, each with a name: those of the runs in a folder, or the one of this name."""
    folders = sorted(config.parent for config in Path(member).rglob(CONFIG)) if os.path.isdir(member) else []
    runs = [folder for folder in folders if agent_files(world, folder)]
    for run in runs:
        agent = read_agent(world, run, **how)
        yield str(agent.path), agent
    if not runs:
        yield member, read_agent(world, member, **how)


def add_group_flags(parser: Parser, *, required: bool = True) -> None:
    """Add the flags for groups and for the outputs of their comparison."""
    text = "named group of run folders, folders of such folders, agent files or names of players; repeatable"
    parser.add_argument("--group", action="append", required=required, metavar="NAME=RUN,RUN,…", help=text)
    text = "optimal score, for the optimality gap"
    parser.add_argument("--target", type=_TARGET, default=None, metavar="SCORE", help=text)
    text = "write the tables as Markdown; - is standard output"
    parser.add_argument("--markdown", type=OUTPUT, metavar="FILE", help=text)
    text = "draw runs, intervals and profiles as .png, .svg or .pdf"
    parser.add_argument("--picture", type=OutputFile(), metavar="FILE", help=text)


def _parser(program: Program) -> Parser:
    parser = program.parser(
        "compare",
        "Compare groups of agents that play the same games: interquartile mean, median and probability of improvement, "
        "with 95% stratified bootstrap intervals, and differences between runs with the same seed. An interval needs "
        f"at least {FEWEST} runs or seeds.",
    )
    add_group_flags(parser)
    add_evaluation_flags(parser, program, 300)
    return parser
