"""``compare``: let the agents of groups of runs play the same games, and compare their returns."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from rlparity.core.prices import changed_prices, prices_note, read_prices
from rlparity.errors import UsageError
from rlparity.io.arguments import STANDARD_OUTPUT, FloatRange, OutputFile, Parser
from rlparity.io.console import open_console
from rlparity.io.intervals import FEWEST
from rlparity.io.strict_json import json_text
from rlworldkit.cli import players
from rlworldkit.cli.evaluate import add_playing_flags
from rlworldkit.cli.outputs import OUTPUT, write_output
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.program import Program
from rlworldkit.runs.console import print_line
from rlworldkit.runs.folder import CONFIG
from rlworldkit.runs.saved_config import read_saved_config
from rlworldkit.watch.agents import agents_of

if TYPE_CHECKING:
    from rlworldkit.evaluation.comparison import Groups
    from rlworldkit.score import Player

_PICTURES = (".png", ".svg", ".pdf")
_TARGET = FloatRange(-1e12, 1e12)


def main(program: Program, argv: Sequence[str]) -> int:
    """Play, print the comparison, write it where asked, and return 0; raises UsageError for what cannot be played."""
    parser = _parser(program)
    args = parser.parse_args(argv)
    named = checked_groups(parser, args)
    world = program.world.with_prices(read_prices(args.price, args.prices))
    enable_compilation_cache(program.name)
    # Imported only now: a mistaken command line should not have to wait for JAX.
    from rlworldkit.evaluation.comparison import RETURN, ScoredRun
    from rlworldkit.evaluation.play import play_episodes
    from rlworldkit.evaluation.players import player_of

    how = {"deterministic": args.deterministic, "seed": args.player_seed}
    runs = {
        name: [(*found, player_of(world, found[0], **how)) for each in members for found in _agents(Path(each))]
        for name, members in named.items()
    }
    console = open_console(stderr=STANDARD_OUTPUT in (args.json, args.markdown))
    prices = prices_note(changed_prices(world))
    print_line(console, f"Each agent plays the games {args.seed} to {args.seed + args.episodes - 1}{prices}.")
    engine = players.engine_of(world, args.engine)
    sizes = {"engine": engine, "num_envs": args.num_envs, "max_steps": args.max_steps}
    with players.playing(program, [engine], args.episodes * sum(map(len, runs.values()))) as advance:

        def scored(agent: str, seed: int | None, player: "Player") -> ScoredRun:
            episodes = play_episodes(world, player, args.seed, args.episodes, **sizes, advance=advance)
            return ScoredRun(agent, seed, sum(episode.stats["return"] for episode in episodes) / len(episodes))

        groups = {name: [scored(*each) for each in of] for name, of in runs.items()}
    write_comparison(console, groups, args, RETURN)
    return 0


def checked_groups(parser: Parser, args: Any) -> dict[str, list[str]]:  # noqa: ANN401 - flags
    """The members of the groups by name; ends with one sentence where a group or an output cannot be had."""
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
    """Print the comparison of groups of runs, and write it where asked. score: what it compares, in words."""
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


def _agents(path: Path) -> Iterator[tuple[str, int | None]]:
    """The agents that a member stands for, each with the seed of its run, if that is known."""
    found = [(path, path.parent)]
    if path.is_dir():
        folders = sorted(config.parent for config in path.rglob(CONFIG))
        runs = [([file for file in agents_of(folder) if file.suffix == ".npz"], folder) for folder in folders]
        found = [(agents[0], folder) for agents, folder in runs if agents]
    if not found:
        advice = "name the folder of one, or a params_*.npz or .onnx file"
        raise UsageError(f"There is no run of `train` with an agent in {path}: {advice}.")
    for agent, folder in found:
        seed = read_saved_config(folder).get("seed") if agent.is_file() else None
        yield str(agent), seed if isinstance(seed, int) else None


def add_group_flags(parser: Parser, *, required: bool = True) -> None:
    """The groups, and what is written of their comparison."""
    text = "runs under a name: their folders, folders of such folders, agents' files, or players by name; repeatable"
    parser.add_argument("--group", action="append", required=required, metavar="NAME=RUN,RUN,…", help=text)
    text = "the score that counts as optimal; adds the optimality gap"
    parser.add_argument("--target", type=_TARGET, default=None, metavar="SCORE", help=text)
    text = "write the tables as Markdown; - is standard output"
    parser.add_argument("--markdown", type=OUTPUT, metavar="FILE", help=text)
    text = "draw runs, intervals and profiles (png, svg or pdf)"
    parser.add_argument("--picture", type=OutputFile(), metavar="FILE", help=text)


def _parser(program: Program) -> Parser:
    parser = Parser(
        prog=f"{program.name} compare",
        description="Let agents play the same games, and compare groups of them: interquartile mean, median and "
        "probability of improvement with 95% stratified bootstrap intervals, and differences of runs from one seed. An "
        f"interval needs {FEWEST} runs or seeds.",
        allow_abbrev=False,
    )
    add_group_flags(parser)
    parser.add_argument("--deterministic", action="store_true", help="take the likeliest actions, not drawn ones")
    add_playing_flags(parser, program, 300, "drawn actions", "one of the world's")
    return parser
