"""``hackmatrix evaluate``: let somebody play many episodes and say how well they went."""

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from hackmatrix.cli.parser import Parser, could_write, positive_int, seed
from hackmatrix.cli.xla import keep_compiled_programs
from hackmatrix.games.engines import ENGINES

STANDARD_OUTPUT = "-"
DIFFERENT_EXIT_CODE = 1
BOTH = "both"


def main(argv: Sequence[str] | None = None) -> int:
    """Play, print the figures and return the exit code: 1 where the two engines gave different episodes, else 0.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        UsageError: the parameters cannot be used.
        SwiftEngineError: the Swift engine is not built, or fails.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    if args.json not in (None, STANDARD_OUTPUT) and not could_write(Path(args.json)):
        parser.error(f"cannot write {args.json}: name a file in a folder that exists and can be written to")
    keep_compiled_programs()
    # Imported only now: a mistaken command line should not have to wait for JAX.
    from hackmatrix.evaluation.play import play_episodes
    from hackmatrix.evaluation.players import player_of
    from hackmatrix.evaluation.report import as_json, as_tables, summary

    console = Console(stderr=args.json == STANDARD_OUTPUT)
    player = player_of(args.player, deterministic=args.deterministic, seed=args.player_seed)
    engines = ENGINES if args.engine == BOTH else (args.engine,)
    played = [
        play_episodes(player, args.seed, args.episodes, engine=engine, num_envs=args.num_envs, max_steps=args.max_steps)
        for engine in engines
    ]
    figures = summary(played[0])
    how = "likeliest actions" if args.deterministic else "drawn actions"
    for table in as_tables(figures, f"{args.player}, {how}, games {args.seed} to {args.seed + args.episodes - 1}"):
        console.print(table)
    if args.json == STANDARD_OUTPUT:
        print(as_json(figures), end="")
    elif args.json:
        Path(args.json).write_text(as_json(figures), encoding="utf-8")
    if args.engine != BOTH:
        return 0
    different = [one.seed for one, other in zip(*played, strict=True) if one != other]
    console.print(
        f"The engines differ in the games {different}." if different else "Both engines gave the same episodes.",
        highlight=False,
    )
    return DIFFERENT_EXIT_CODE if different else 0


def _parser() -> Parser:
    parser = Parser(
        prog="hackmatrix evaluate",
        description="Let somebody play whole episodes and say how well they went, with 95% confidence intervals.",
        allow_abbrev=False,
    )
    parser.add_argument("player", metavar="PARAMS", help="a params_*.npz file, or `random`, or `walk`")
    parser.add_argument("--episodes", type=positive_int, default=1000, metavar="N", help="(default 1000)")
    parser.add_argument("--deterministic", action="store_true", help="take the likeliest actions")
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="the first game's seed (default 0)")
    parser.add_argument("--player-seed", type=int, default=0, metavar="N", help="seed of drawn actions (default 0)")
    parser.add_argument("--engine", choices=(*ENGINES, BOTH), default="jax", help="(default jax)")
    parser.add_argument("--num-envs", type=positive_int, default=256, metavar="N", help="games at once (default 256)")
    parser.add_argument(
        "--max-steps", type=positive_int, default=5000, metavar="N", help="truncate after (default 5000)"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON; - is standard output")
    return parser


if __name__ == "__main__":
    sys.exit(main())
