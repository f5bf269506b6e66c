"""``evaluate``: evaluate an agent over many games."""

from collections.abc import Sequence

from rlparity.core.prices import read_prices
from rlparity.io.arguments import GAMES, STANDARD_OUTPUT, Parser
from rlparity.io.console import open_console
from rlworldkit.agents.reader import agents_text
from rlworldkit.cli import players
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, write_output
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.program import Program

DIFFERENT_EXIT_CODE = 1
BOTH = "both"


def main(program: Program, argv: Sequence[str]) -> int:
    """Play and print the figures; return 1 if the two engines gave different episodes, else 0."""
    parser = _parser(program)
    args = parser.parse_args(argv)
    world = program.world_of(args.mode).with_prices(read_prices(args.price, args.prices))
    enable_compilation_cache(program.name)
    # Imported only now, so that a mistaken command line fails without waiting for JAX.
    from rlworldkit.evaluation.play import play_episodes
    from rlworldkit.evaluation.report import as_json, as_tables, summary

    console = open_console(stderr=args.json == STANDARD_OUTPUT)
    player = players.player_of(world, args.player, args)
    engines = tuple(world.engines)[:2] if args.engine == BOTH else (players.engine_of(world, args.engine),)
    sizes = {"num_envs": args.num_envs, "max_steps": args.max_steps}
    with players.playing(program, engines, args.episodes * len(engines)) as advance:
        played = [
            play_episodes(world, player, args.seed, args.episodes, engine=engine, **sizes, advance=advance)
            for engine in engines
        ]
    figures = summary(world, played[0])
    title = f"{args.player}, {player.choice}, games {args.seed} to {(args.seed + args.episodes - 1) % 2**64}"
    for table in as_tables(world, figures, title):
        console.print(table)
    if args.json:
        write_output(args.json, as_json(figures))
    if args.engine != BOTH:
        return 0
    different = [one.seed for one, other in zip(*played, strict=True) if one != other]
    console.print(
        f"The engines differ in the games {different}." if different else "Both engines gave the same episodes."
    )
    return DIFFERENT_EXIT_CODE if different else 0


def add_evaluation_flags(parser: Parser, program: Program, episodes: int, also: Sequence[str] = ()) -> None:
    """Add the flags of commands that evaluate agents; the arguments are those of ``players.add_player_flags``."""
    parser.add_argument("--num-envs", type=GAMES, default=256, metavar="N", help="parallel games (default 256)")
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    players.add_player_flags(parser, program, episodes=episodes, also=also)


def _parser(program: Program) -> Parser:
    parser = program.parser(
        "evaluate",
        "Evaluate an agent over whole games. The 95% intervals of means are percentile bootstraps over games, those of "
        "shares are Wilson's.",
    )
    parser.add_argument("player", metavar="AGENT", help=f"agent: {agents_text(program.world)}")
    add_evaluation_flags(parser, program, 1000, (BOTH,) * (len(program.world.engines) > 1))
    return parser
