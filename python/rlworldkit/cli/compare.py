"""``compare``: let the agents of groups of runs play the same games, and compare their returns."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from parity.arguments import GAMES, FloatRange, Named, Parser
from parity.console import open_console
from parity.errors import UsageError
from parity.prices import add_price_flags, changed_prices, prices_note, read_prices
from rlworldkit.cli import players
from rlworldkit.cli.outputs import JSON_HELP, STANDARD_OUTPUT, check_output, write_output
from rlworldkit.game import Game
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.runs.console import print_line
from rlworldkit.runs.folder import CONFIG
from rlworldkit.runs.saved_config import read_saved_config
from rlworldkit.watch.agents import agents_of

if TYPE_CHECKING:
    from rlworldkit.evaluation.comparison import Groups, ScoredRun
    from rlworldkit.evaluation.spec import EvaluationSpec

PICTURES = (".png", ".svg", ".pdf")
_TARGET = FloatRange(-1e12, 1e12)


class Group(NamedTuple):
    """A name and what it stands for: folders of runs, folders of such folders, and agents."""

    name: str
    members: tuple[str, ...]


def _group(name: str, _: str, members: str) -> Group:
    if not name or not all(members.split(",")):
        raise ValueError(members)
    return Group(name, tuple(members.split(",")))


GROUP = Named("NAME=RUN,RUN,…", Group, _group)


def main(game: Game, argv: Sequence[str]) -> int:
    """Play, print the comparison, write it where asked, and return 0; raises UsageError for what cannot be played."""
    parser = _parser(game)
    args = parser.parse_args(argv)
    check_group_flags(parser, args)
    game = game.with_prices(read_prices(args.price, args.prices))
    enable_compilation_cache(game.name)
    # Imported only now: a mistaken command line should not have to wait for JAX.
    from rlworldkit.evaluation.comparison import RETURN

    assert game.evaluation is not None
    spec = game.evaluation()
    agents = {group.name: [found for each in group.members for found in _agents(each)] for group in args.group}
    console = open_console(stderr=STANDARD_OUTPUT in (args.json, args.markdown))
    prices = prices_note(changed_prices(spec.env.world))
    print_line(console, f"Each agent plays the games {args.seed} to {args.seed + args.episodes - 1}{prices}.")
    groups = {name: [_scored(spec, agent, seed, args) for agent, seed in of] for name, of in agents.items()}
    write_comparison(console, groups, args, RETURN)
    return 0


def check_group_flags(parser: Parser, args: Any) -> None:  # noqa: ANN401 - flags
    """End with one sentence where an output cannot be written, or a name is given twice."""
    for target in (args.json, args.markdown, args.picture):
        check_output(parser, target)
    if args.picture and Path(args.picture).suffix.lower() not in PICTURES:
        parser.error(f"--picture must end in {', '.join(PICTURES)}, got {args.picture!r}")
    names = [group.name for group in args.group or ()]
    if len({*names}) < len(names):
        parser.error(f"a group's name must be given once, got {', '.join(names)}")


def write_comparison(console: Console, groups: "Groups", args: Any, score: str) -> None:  # noqa: ANN401 - flags
    """Print the comparison of groups of runs, and write it where asked. score: what it compares, in words."""
    from rlworldkit.evaluation.comparison import as_json, as_tables, compared, draw_comparison

    figures = compared(groups, args.target, score)
    tables = as_tables(figures)
    for table in tables:
        table.print(console)
    if args.json:
        write_output(args.json, as_json(figures))
    if args.markdown:
        write_output(args.markdown, "\n\n".join(table.markdown() for table in tables) + "\n")
    if args.picture:
        write_output(args.picture, draw_comparison(figures, Path(args.picture).suffix[1:].lower()))


def _agents(member: str) -> list[tuple[str, int | None]]:
    """The agents that a member stands for, each with the seed of its run, if that is known."""
    path = Path(member)
    if not path.is_dir():
        return [(member, _seed_of(path.parent) if path.is_file() else None)]
    found = [
        (str(agent), _seed_of(folder))
        for folder in sorted(config.parent for config in path.rglob(CONFIG))
        for agent in [file for file in agents_of(folder) if file.suffix == ".npz"][:1]
    ]
    if not found:
        raise UsageError(f"There is no run with an agent in {path}: name the folder of a run, or an agent's file.")
    return found


def _seed_of(folder: Path) -> int | None:
    seed = read_saved_config(folder).get("seed")
    return seed if isinstance(seed, int) else None


def _scored(spec: "EvaluationSpec", agent: str, seed: int | None, args: Any) -> "ScoredRun":  # noqa: ANN401 - flags
    from rlworldkit.evaluation.comparison import ScoredRun
    from rlworldkit.evaluation.play import play_episodes
    from rlworldkit.evaluation.players import player_of

    player = player_of(spec, agent, deterministic=args.deterministic, seed=args.player_seed)
    episodes = play_episodes(
        spec, player, args.seed, args.episodes, engine=args.engine, num_envs=args.num_envs, max_steps=args.max_steps
    )
    return ScoredRun(agent, seed, sum(episode.stats["return"] for episode in episodes) / len(episodes))


def add_group_flags(parser: Parser, *, required: bool = True) -> None:
    """The groups, and what is written of their comparison."""
    parser.add_argument(
        "--group",
        type=GROUP,
        action="append",
        required=required,
        metavar=GROUP.span(),
        help="runs under a name: their folders, folders of such folders, agents' files, or players by name; repeatable",
    )
    text = "the score that counts as optimal; adds the optimality gap"
    parser.add_argument("--target", type=_TARGET, default=None, metavar="SCORE", help=text)
    parser.add_argument("--markdown", metavar="FILE", help="write the tables as Markdown; - is standard output")
    parser.add_argument("--picture", metavar="FILE", help="draw runs, intervals and profiles (png, svg or pdf)")


def _parser(game: Game) -> Parser:
    parser = Parser(
        prog=f"{game.name} compare",
        description="Let the agents of groups of runs play the same games, and compare the groups: interquartile mean, "
        "median and probability of improvement with 95% stratified bootstrap intervals over runs, and differences of "
        "runs from the same seed.",
        allow_abbrev=False,
    )
    add_group_flags(parser)
    parser.add_argument("--deterministic", action="store_true", help="take the likeliest actions, not drawn ones")
    players.add_game_flags(parser, episodes=300)
    players.add_player_seed_flag(parser, "drawn actions")
    parser.add_argument("--engine", default="jax", metavar="NAME", help="one of the world's (default jax)")
    parser.add_argument("--num-envs", type=GAMES, default=256, metavar="N", help="games at once (default 256)")
    parser.add_argument("--json", metavar="FILE", help=JSON_HELP)
    add_price_flags(parser)
    return parser
