"""``hackmatrix explain``: play a game and explain each of its reward components."""

import argparse
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from hackmatrix.cli.main import PROGRAM
from hackmatrix.explain import show
from hackmatrix.explain.show import ExplainedStep
from hackmatrix.rules import ACTIONS
from hackmatrix.world import WORLD
from rlparity import World
from rlparity.core.prices import add_price_flags, changed_prices, priced
from rlparity.core.trace import RESTART, Action, Case
from rlparity.errors import ParityError, UsageError
from rlparity.io.arguments import SEED, STANDARD_OUTPUT, IntRange, Parser
from rlparity.io.console import open_console, typed_command
from rlparity.io.strict_json import json_text
from rlworldkit.cli import players
from rlworldkit.cli.outputs import OUTPUT, write_output
from rlworldkit.show.pages.replay import read_own_trace

_STEP = IntRange(0, 2**31 - 1)
_ACTIONS: dict[str, Action] = {
    RESTART: RESTART,
    **{word: number for number, name in enumerate(ACTIONS) for word in (str(number), name.lower())},
}


def main(argv: Sequence[str] | None = None) -> int:
    """Explain one game and return the exit code: 0 where engines and table W's reading agree, else 1.

    Raises UsageError where the trace cannot be used, or an engine cannot start or play it.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    if args.trace and (args.seed is not None or args.actions is not None):
        parser.error("a trace brings its own start and actions; give either TRACE or --seed and --actions")
    if not args.trace and (args.seed is None or args.actions is None):
        parser.error("nothing to play; give either TRACE or --seed and --actions")
    try:
        trace = read_own_trace(WORLD, args.trace) if args.trace else None
        case = trace.case if trace else Case(args.actions, seed=args.seed)
        world = priced(WORLD.with_prices(trace.prices if trace else {}), args)
        shown = _cut(case, args)
        args.engines = args.engines or (players.engine_of(world, None),)
        played = _play(shown, world, args)
    except ParityError as error:
        raise UsageError(str(error)) from error
    if not all(step.sound for step in played):
        return 1
    if not case.actions:
        raise UsageError(f"{args.trace} holds no actions, so that there is no step to explain: give a trace with some.")
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="hackmatrix explain",
        description="Play a game and show, step by step, which reward components it earned and why.",
        epilog="Exit codes: 0 all agree, 1 engines or readings differ, 2 wrong usage or an engine that cannot play.",
        allow_abbrev=False,
    )
    parser.add_argument("trace", nargs="?", type=Path, metavar="TRACE", help="trace that `rlparity` or `play` wrote")
    parser.add_argument("--seed", type=SEED, metavar="N", help="seed of the game to play with --actions")
    parser.add_argument(
        "--actions", type=_actions, metavar="A,B,...", help="actions by number or name, such as up,siphon,WARP,11"
    )
    parser.add_argument(
        "--engines",
        type=_engines,
        metavar="A[,B]",
        help="engines to play on; swift,jax compares both and shows the states of the first (default: swift if it is "
        "built, else jax)",
    )
    parser.add_argument(
        "--from", dest="first", type=_STEP, default=0, metavar="STEP", help="first step to show, from 0"
    )
    parser.add_argument("--to", dest="last", type=_STEP, metavar="STEP", help="last step to play (default: all)")
    add_price_flags(parser, lambda: WORLD)
    text = "write the explanation as JSON; - is standard output"
    parser.add_argument("--json", type=OUTPUT, metavar="FILE", help=text)
    return parser


def _cut(case: Case, args: argparse.Namespace) -> Case:
    """The case up to ``--to``; raises UsageError where a bound lies outside of it."""
    end = len(case.actions) - 1
    last = end if args.last is None else args.last
    if last > end or args.first > max(last, 0):
        steps = f"steps 0 ... {end}" if case.actions else "no steps"
        raise UsageError(f"--from {args.first} --to {last} names steps that are not there: the game has {steps}.")
    return case.prefix(last + 1)


def _play(case: Case, world: World, args: argparse.Namespace) -> list[ExplainedStep]:
    """Play the case and print it from ``--from`` on; return all its steps."""
    console = open_console(quiet=args.json == STANDARD_OUTPUT, width=show.WIDTH)
    played: list[ExplainedStep] = []
    printed: list[ExplainedStep] = []
    steps = show.explained_steps(args.engines, case, world)
    with players.playing(PROGRAM, args.engines):
        begun = list(islice(steps, 2))  # the start and one step, during which the JAX engine compiles
    for step in chain(begun, steps):
        before = played[-1].state if played else None
        played.append(step)
        if max(step.number, 0) >= args.first:  # the start belongs to step 0
            if before and not printed:
                show.print_before(console, step, before)
            show.print_step(console, step, args.engines, before)
            printed.append(step)
    show.print_legend(console)
    console.print(show.verdict(played, args.engines), style="bold", soft_wrap=True)
    if args.trace and not all(step.states_agree for step in played):
        words = "replay", "--world", "hackmatrix", "--engines", ",".join(args.engines), args.trace
        console.print(f"Where the states differ: {typed_command('rlparity', 'rlparity', *words)}", soft_wrap=True)
    if args.json:
        write_output(args.json, json_text(show.as_json(printed, args.engines, changed_prices(world)), indent=2) + "\n")
    return played


def _actions(text: str) -> tuple[Action, ...]:
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word.lower() not in _ACTIONS:
            there = f"the numbers 0 ... {len(ACTIONS) - 1}, {', '.join(ACTIONS)} and {RESTART}"
            raise argparse.ArgumentTypeError(f"'{word}' is no action; there are {there}")
    return tuple(_ACTIONS[word.lower()] for word in words)


def _engines(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if len(names) > 2 or not {*names} <= {*WORLD.engines}:
        raise argparse.ArgumentTypeError(f"'{text}' names no engines; give one or two of {', '.join(WORLD.engines)}")
    return names
