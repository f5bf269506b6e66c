"""The command ``parity``: its arguments. What the commands do is in ``commands``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from parity import commands
from parity.arguments import GAMES, SECONDS, SEED, SHARE, STEPS, Parser, Real, Whole
from parity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError, is_out_of_memory
from parity.guard import DEFAULT_TIMEOUT, LESS_MEMORY
from parity.streams import discard_output, is_output_closed, is_output_full, open_missing_streams

JOBS = Whole(1, 1024)
EXIT_CODES = "Exit codes: 0 all is well, 1 something differs (or is missing), 2 wrong usage, 3 an engine failed."


def _engines(text: str) -> tuple[str, str]:
    names = text.split(",")
    if len(names) != 2 or not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' does not name two engines as a,b")
    return names[0], names[1]


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="parity",
        description="Hold two engines of a world to each other, step by step and bit for bit.",
        epilog=EXIT_CODES,
    )
    parser.add_argument("--traceback", action="store_true", help="show where in the code an error arose")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    def command(name: str, does: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        added = subparsers.add_parser(name, help=text, description=text, epilog=EXIT_CODES, allow_abbrev=False)
        added.set_defaults(does=does)
        added.add_argument(
            "--world",
            metavar="NAME",
            help="registered world, or module:attribute (default: the only one, or the only one with these engines)",
        )
        added.add_argument(
            "--timeout",
            type=SECONDS,
            default=DEFAULT_TIMEOUT,
            metavar="SECONDS",
            help="how long an engine may take for one answer (default: %(default)g)",
        )
        added.add_argument("--json", action="store_true", help="print one JSON object instead of text")
        return added

    run = command("run", commands.run, "Play many games on both engines and compare everything at every step.")
    _add_pair(run)
    _add_play(run, steps=1000, games=64)
    _add_comparison(run)

    replay = command("replay", commands.replay, "Replay a trace on both engines and report what differs.")
    replay.add_argument("trace", type=Path, help="trace file")
    replay.add_argument("--engines", type=_engines, metavar="A,B", help="other engines than the trace's")
    replay.add_argument("--html", type=Path, metavar="FILE", help="write the report page to this file too")

    coverage = command("coverage", commands.coverage, "Run, count how often each rule fired, and compare the counts.")
    _add_pair(coverage)
    _add_play(coverage, steps=1000, games=64, source="directed")
    _add_comparison(coverage)

    rewards = command("rewards", commands.rewards, "Replay the golden episodes and show what changed in their rewards.")
    _add_pair(rewards)
    rewards.add_argument("--golden", type=Path, metavar="DIR", help="folder of episodes (default: the world's own)")
    rewards.add_argument("--accept", action="store_true", help="renew the episodes, if the engines agree")

    record = command("record", commands.record, "Record golden episodes on the reference engine.")
    _add_pair(record)
    _add_play(record, steps=200, games=8, seeds="games start from S, S+1, ...")
    record.add_argument("--out", type=Path, metavar="DIR", help="folder to write to (default: the world's golden one)")

    mutants = command(
        "mutants", commands.mutants, "Plant faults in a copy of an engine, or of a project, and see them caught."
    )
    _add_play(mutants, steps=500, games=64, source="directed")
    mutants.add_argument("--engine", metavar="NAME", help="the engine to mutate (default: every one with mutants)")
    mutants.add_argument(
        "--tests",
        type=Path,
        metavar="TABLE",
        help="instead of a world's: the mutants of this TOML file, planted in a copy of the working directory and "
        "judged by the tests that they name",
    )
    mutants.add_argument("--only", action="append", default=[], metavar="MUTANT", help="only this mutant; repeatable")
    mutants.add_argument(
        "--jobs",
        type=JOBS,
        default=os.cpu_count() or 1,
        metavar="N",
        help="mutants at a time (default: %(default)s, the cores)",
    )
    mutants.add_argument(
        "--run-timeout",
        type=SECONDS,
        default=1800.0,
        metavar="SECONDS",
        help="how long the run of one mutant may take (default: %(default)g)",
    )
    return parser


def _add_pair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engines", type=_engines, metavar="A,B", help="reference and other engine (default: the world's first two)"
    )


SEEDS = "game i starts from S+i, every second one from a fixed multiple of 2^32 more"


def _add_play(
    parser: argparse.ArgumentParser, *, steps: int, games: int, source: str = "uniform", seeds: str = SEEDS
) -> None:
    parser.add_argument(
        "--steps", type=STEPS, default=steps, metavar="N", help="steps of each game (default: %(default)s)"
    )
    parser.add_argument("--games", type=GAMES, default=games, metavar="B", help="games (default: %(default)s)")
    parser.add_argument(
        "--seed",
        type=SEED,
        default=0,
        metavar="S",
        help=f"{seeds}; choices are drawn from S too (default: 0)",
    )
    parser.add_argument(
        "--source",
        default=source,
        metavar="WHAT",
        help="uniform, directed, policy:FILE or traces:DIR (default: %(default)s)",
    )
    parser.add_argument(
        "--invalid",
        type=SHARE,
        default=0.01,
        metavar="SHARE",
        help="share of invalid actions mixed in (default: %(default)s)",
    )


def _add_comparison(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--auto-reset",
        action="store_true",
        help="step with the engines' own auto-reset; how ended games look is not compared then",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("parity-report"),
        metavar="DIR",
        help="where traces and report pages go (default: %(default)s)",
    )
    parser.add_argument(
        "--max-divergences",
        type=GAMES,
        default=1,
        metavar="N",
        help="diverging games to collect before the run stops (default: %(default)s)",
    )
    parser.add_argument(
        "--shrink-seconds",
        type=Real(0, SECONDS.most),
        default=60.0,
        metavar="SECONDS",
        help="time to spend on making a case small (default: %(default)g)",
    )
    parser.add_argument("--no-report", action="store_true", help="write no trace and no page")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    open_missing_streams()
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.json and is_output_closed():
        parser.error("--json prints on standard output, which is closed")
    try:
        exit_code = int(options.does(options))
        sys.stdout.flush()
        return exit_code
    except ParityError as error:
        if options.traceback:
            raise
        print(f"parity: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("parity: stopped.", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        discard_output()
        return 1
    except OSError as error:
        if options.traceback or not is_output_full(error):
            raise
        discard_output()
        print(f"parity: the output could not be written ({error.strerror}): make room.", file=sys.stderr)
        return UsageError.exit_code
    except Exception as error:
        if options.traceback or not is_out_of_memory(error):
            raise
        print(f"parity: this needs more memory than there is: {LESS_MEMORY}.", file=sys.stderr)
        return UsageError.exit_code
