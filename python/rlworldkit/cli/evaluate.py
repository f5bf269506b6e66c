"""``evaluate``: let a player play many episodes and report how well they went."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rlparity import World
from rlparity.core.prices import add_price_flags, read_prices
from rlparity.io.arguments import GAMES, STANDARD_OUTPUT, Parser
from rlparity.io.console import open_console
from rlworldkit.cli import players
from rlworldkit.cli.outputs import JSON_HELP, OUTPUT, write_output
from rlworldkit.jax.opening import jax_env_of
from rlworldkit.jax.xla import enable_compilation_cache
from rlworldkit.program import Program

if TYPE_CHECKING:
    from rlworldkit.score import Player

DIFFERENT_EXIT_CODE = 1
BOTH = "both"


def main(program: Program, argv: Sequence[str]) -> int:
    """Play and print the figures; return 1 where the two engines gave different episodes, else 0."""
    parser = _parser(program)
    args = parser.parse_args(argv)
    world = program.world.with_prices(read_prices(args.price, args.prices))
    enable_compilation_cache(program.name)
    # Imported only now: a mistaken command line should not have to wait for JAX.
    from rlworldkit.evaluation.play import play_episodes
    from rlworldkit.evaluation.report import as_json, as_tables, summary

    names = tuple(world.engines)
    if args.engine not in (None, *names, BOTH):
        parser.error(f"there is no engine {args.engine!r}: choose {', '.join((*names, BOTH))}")
    if args.engine == BOTH and len(names) < 2:
        parser.error(f"there is only the engine {names[0]}: `{BOTH}` needs two")
    console = open_console(stderr=args.json == STANDARD_OUTPUT)
    player, how = _player(world, args)
    engines = names[:2] if args.engine == BOTH else (players.engine_of(world, args.engine),)
    sizes = {"num_envs": args.num_envs, "max_steps": args.max_steps}
    with players.playing(program, engines, args.episodes * len(engines)) as advance:
        played = [
            play_episodes(world, player, args.seed, args.episodes, engine=engine, **sizes, advance=advance)
            for engine in engines
        ]
    figures = summary(world, played[0])
    title = f"{args.player}, {how}, games {args.seed} to {(args.seed + args.episodes - 1) % 2**64}"
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


def _player(world: World, args: argparse.Namespace) -> "tuple[Player, str]":
    from rlworldkit.evaluation.players import agent_file, player_of

    if args.search is None:
        player = player_of(world, args.player, deterministic=args.deterministic, seed=args.player_seed)
        return player, "likeliest actions" if args.deterministic else "drawn actions"
    from rlworldkit.evaluation.searcher import searcher_of

    path = agent_file(world, args.player)
    player = searcher_of(world, jax_env_of(world), path, args.search, seed=args.player_seed)
    return player, f"a search of {args.search} steps"


def add_choice_flags(parser: argparse.ArgumentParser) -> None:
    """Add flags that choose actions: drawn unless ``--deterministic`` or ``--search`` is given."""
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--deterministic", action="store_true", help="take the likeliest actions instead of drawing them")
    players.add_search_flag(how)


def add_playing_flags(parser: Parser, program: Program, episodes: int, seeded: str, engines: str) -> None:
    """Add flags for how games are played and written; seeded: what the player's seed is for."""
    players.add_game_flags(parser, episodes=episodes)
    players.add_player_seed_flag(parser, seeded)
    default = "default: the first that is built; all play the same games"
    parser.add_argument("--engine", metavar="NAME", help=f"{engines} ({default})")
    parser.add_argument("--num-envs", type=GAMES, default=256, metavar="N", help="games at once (default 256)")
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=JSON_HELP)
    add_price_flags(parser, lambda: program.world)


def _parser(program: Program) -> Parser:
    parser = Parser(
        prog=f"{program.name} evaluate",
        description="Let somebody play whole episodes and say how well they went, with 95% intervals: the percentile "
        "bootstrap over games, Wilson's for shares.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "player",
        metavar="PARAMS",
        help="a params_*.npz or .onnx file, or `random`, or another player of the world by name",
    )
    add_choice_flags(parser)
    add_playing_flags(parser, program, 1000, "drawn actions and of searches", f"one of the world's, or `{BOTH}`")
    return parser
