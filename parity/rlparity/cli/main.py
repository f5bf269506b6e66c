"""The command ``rlparity``: its arguments. What the commands do is in ``commands``."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rlparity import errors
from rlparity.cli import commands, diff_command, ledger_command
from rlparity.cli.command_help import explain
from rlparity.cli.completion import FLAG, HELP, SHELLS, PrintCompletion
from rlparity.cli.doctor import doctor
from rlparity.cli.scaffold import init
from rlparity.core import ledger
from rlparity.core.guard import DEFAULT_TIMEOUT, LESS_MEMORY
from rlparity.core.ledger import KINDS
from rlparity.core.ledger_entry import THEN
from rlparity.core.prices import add_price_flags
from rlparity.core.settings import FREE_RUNNING, MODES, STRICT
from rlparity.debug.attach import debug
from rlparity.engines.serve import serve
from rlparity.io import arguments
from rlparity.io.arguments import GAMES, SECONDS, SEED, SHARE, STEPS, FloatRange, IntRange, OneOf, Parser, two_engines
from rlparity.io.console import (
    CLOSED_PIPE_EXIT_CODE,
    discard_output,
    is_output_closed,
    is_output_full,
    open_missing_streams,
)

JOBS = IntRange(1, 1024)
FILE, STREAM = arguments.OutputFile(makes_folders=True), arguments.OutputFile(has_streams=True)


def _value(name: str, text: str, kind: Callable[[str], Any] = str, default: object = None) -> dict[str, Any]:
    return {"metavar": name, "help": text, "type": kind, "default": default}


def _several(name: str, text: str) -> dict[str, Any]:
    return {"metavar": name, "help": f"{text}; repeatable", "action": "append", "default": []}


def _switch(text: str) -> dict[str, Any]:
    return {"action": "store_true", "help": text}


_PLAY = {
    "--steps": _value("N", "steps of each game (default: %(default)s)", STEPS),
    "--games": _value("B", "games (default: %(default)s)", GAMES),
    "--seed": _value(
        "S",
        "game i starts from S+i, every second one from a fixed multiple of 2^32 more; choices are drawn from S too "
        "(default: 0)",
        SEED,
        0,
    ),
    "--source": _value(
        "WHAT",
        "how actions are chosen: uniform (at random), directed (by the world's own starts and policies), explore "
        "(towards what was seldom seen), policy:FILE (by a policy that the world reads) or traces:DIR (as recorded) "
        "(default: %(default)s)",
    ),
    "--invalid": _value("SHARE", "share of actions mixed in that the mask forbids (default: %(default)s)", SHARE, 0.01),
}
_PAIR = {
    "--engines": _value(
        "A,B",
        "reference, and the engine to compare with it (default: the world's first two); NAME@PLACE is an engine in a "
        "process of its own, with PLACE one of rev:COMMIT, python:FILE, pip:REQUIREMENT, cpu and cuda; tape:DIR is a "
        "recorded reference (`rlparity record --tape`); gym:ID, gymvec:ID, gymnax:ID, pgx:ID, jumanji:ID, envpool:ID "
        "and dm_env:MODULE:FUNCTION are environments of these libraries, and need no --world",
        two_engines,
    )
}
_LEDGER = {"--ledger": _value("FILE", "known differences, which may show as the file says (`rlparity ledger`)", Path)}
_COMPARISON = {
    **_PAIR,
    **_PLAY,
    "--auto-reset": _switch(
        "engines start the next game themselves where one ends; how ended games look is not compared"
    ),
    "--mode": _value(
        "MODE",
        "strict: both engines start from seeds; injected: each game starts in the reference's state; "
        "resynchronised: each step does; free-running: both play on after they differ, each acted on by what it "
        "shows, and the effect is measured (default: %(default)s)",
        OneOf((*MODES, FREE_RUNNING)),
        STRICT,
    ),
    **_LEDGER,
    "--out": _value("DIR", "where traces and report pages go (default: %(default)s)", Path, Path("rlparity-report")),
    "--max-divergences": _value(
        "N", "diverging games to collect before the run stops (default: %(default)s)", GAMES, 1
    ),
    "--shrink-seconds": _value(
        "SECONDS", "time to spend on making a case small (default: %(default)g)", FloatRange(0, SECONDS.most), 60.0
    ),
    "--draw-prices": _switch("draw the prices of the reward from the seed, unless they are given"),
    "--no-report": _switch("write no trace and no page"),
}
_EVERY = {
    "--world": _value(
        "NAME",
        "MODULE:ATTRIBUTE of a rlparity.World, such as my_module:WORLD, or the name of one that an installed package "
        "registers (default: the only registered one, or the only one with these engines)",
    ),
    "--timeout": _value(
        "SECONDS", "how long an engine may take for one answer (default: %(default)g)", SECONDS, DEFAULT_TIMEOUT
    ),
    "--json": _switch("print one JSON object instead of text"),
}


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(prog="rlparity")
    explain(parser, "Compare two implementations of a reinforcement-learning environment, step by step, bit for bit.")
    parser.add_argument("--traceback", **_switch("show where in the code an error arose"))
    parser.add_argument(FLAG, action=PrintCompletion, choices=SHELLS, metavar="SHELL", help=HELP)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    text = "Write a world of two small engines, its tests and its CI job, to begin with."
    added = subparsers.add_parser("init", help=text, allow_abbrev=False)
    explain(added, text)
    added.add_argument("folder", type=Path, help="where to write them")
    added.set_defaults(does=init, json=False)
    text = "Check the installation and suggest fixes."
    added = subparsers.add_parser("doctor", help=text, allow_abbrev=False)
    explain(added, text)
    added.add_argument("--json", **_EVERY["--json"])
    added.set_defaults(does=doctor)

    def command(
        does: Callable[[argparse.Namespace], int],
        text: str,
        options: Mapping[str, dict[str, Any]],
        to: Any = subparsers,  # noqa: ANN401 - argparse names no type of it
        **defaults: object,
    ) -> None:
        added = to.add_parser(does.__name__, help=text, allow_abbrev=False)
        explain(added, text)
        for name, option in {**_EVERY, **options}.items():
            added.add_argument(name, **option)
        add_price_flags(added)
        added.set_defaults(does=does, **defaults)

    text = "Play many games on both engines and compare everything at every step."
    running = {**_COMPARISON, "--debug": _switch("open the debugger's screen at the first divergence")}
    command(commands.run, text, running, steps=1000, games=64, source="uniform")
    replay = {
        "trace": {"type": Path, "help": "trace file"},
        "--engines": _value("A,B", "other engines than the trace's", two_engines),
        "--html": _value("FILE", "write the report page to this file too", FILE),
    }
    command(commands.replay, "Replay a trace on both engines and report what differs.", replay)
    debugging = {
        "trace": {"type": Path, "nargs": "?", "help": "trace or golden episode to open (default: a new game)"},
        "--engines": _PAIR["--engines"] | {"type": lambda text: two_engines(text if "," in text else f"{text},{text}")},
        "--seed": _value("S", "seed of a new game (default: 0)", SEED),
        "--actions": _value("LIST", "actions of the seed's game, such as up,up,3"),
        "--agent": _value("AGENT", "file or name of an agent that chooses actions (default: drawn uniformly)"),
        "--until": _several(
            "CONDITION",
            "no screen, but run until this holds: MARK, RULE, FIELD < VALUE, action NAME, draw SITE or differs FIELD",
        ),
        "--sub-step": _switch("step from phase to phase of a turn, and say after which one the engines first differ"),
        "--write-test": _value("FILE", "show no screen, but write the game until then as a test of pytest", FILE),
    }
    text = "Step through a game on both engines: stop, step back, edit, fork."
    command(debug, text, debugging)
    text = "Run, count how often each rule fired, and compare the counts."
    command(commands.coverage, text, _COMPARISON, steps=1000, games=64, source="directed")
    rewards = {
        **_PAIR,
        "--golden": _value("DIR", "folder of episodes (default: the world's own)", Path),
        "--accept": _switch("renew the episodes, if the engines agree"),
    }
    command(commands.rewards, "Replay the golden episodes and show what changed in their rewards.", rewards)
    record = {
        **_PAIR,
        **_PLAY,
        "--seed": _value("S", "games start from S, S+1, ...; choices are drawn from S too (default: 0)", SEED, 0),
        "--out": _value("DIR", "folder to write to (default: the world's golden one)", Path),
        "--tape": _value("DIR", "write no episodes but a tape, which --engines tape:DIR,B holds engine B to", Path),
        "--states": _switch("of a tape: record the state of every game after every step"),
        "--marks": _switch("of a tape: record how often each mark fired"),
        "--auto-reset": _COMPARISON["--auto-reset"],
        "--mode": {**_COMPARISON["--mode"], "type": OneOf(MODES)},
    }
    text = "Record golden episodes, or a tape, on the reference engine."
    command(commands.record, text, record, steps=200, games=8, source="uniform")
    mutants = {
        **_PLAY,
        **_LEDGER,
        "--engine": _value("NAME", "the engine to mutate (default: every one with mutants)"),
        "--tests": _value(
            "TABLE",
            "instead of a world's: the mutants of this TOML file, planted in a copy of the working directory and "
            "judged by the tests that they name",
            Path,
        ),
        "--only": _several("MUTANT", "only this mutant"),
        "--jobs": _value("N", "mutants at a time (default: %(default)s, the cores)", JOBS, os.cpu_count() or 1),
    }
    text = "Plant faults in a copy of an engine, or of a project, and see them caught."
    command(commands.mutants, text, mutants, steps=500, games=64, source="directed")
    diff = {
        "a": {"metavar": "SIDE-A", "help": ". (the working directory), a git revision, pip:REQUIREMENT or python:FILE"},
        "b": {"metavar": "SIDE-B", "help": "the other side, of the same kinds"},
        "--engine": _value("NAME", "the engine to compare (default: the world's reference)"),
        **{name: _PLAY[name] for name in ("--steps", "--seed")},
        "--games": _value("B", "directed games, and games of each agent (default: %(default)s)", GAMES),
        "--invalid": _value("SHARE", "share of invalid actions in directed games (default: %(default)s)", SHARE, 0.01),
        "--agent": _several("AGENT", "file or name of an agent to play (default: the first that comes with the world)"),
        "--price-a": _several("NAME=VALUE", "change a price on side A only"),
        "--price-b": _several("NAME=VALUE", "change a price on side B only"),
        "--expect": _several("FAMILY", "let this differ, such as rewards:kills, observation or state:player"),
        "--all": _switch("list every row of the tables, not the first ten"),
        "--cases": _value("N", "differences to make small and show (default: %(default)s)", IntRange(0, 100), 4),
        "--shrink-seconds": _value(
            "SECONDS", "time for making each small (default: %(default)g)", FloatRange(0, SECONDS.most), 5.0
        ),
        "--html": _value("FILE", "write a page of the cases and episodes", arguments.OutputFile()),
        "--json": _value("FILE", "write the result as JSON (-: print it instead of text)", STREAM),
        "--markdown": _value("FILE", "write the result as a comment for a pull request", STREAM),
    }
    text = "Compare an engine at two places, such as two revisions, and show what a change does."
    command(diff_command.diff, text, diff, steps=200, games=16)
    text = "Play an engine for the process at the other end of the pipes; engines with a place are opened so."
    served = subparsers.add_parser("serve", help=text, allow_abbrev=False)
    explain(served, text)
    served.add_argument("--world", **_EVERY["--world"])
    served.add_argument("--engine", required=True, **_value("NAME", "the engine to play"))
    served.set_defaults(does=serve, json=False)
    text = "Known differences of two engines: write them down, and see whether they are still there."
    added = subparsers.add_parser("ledger", help=text)
    explain(added, f"{text}\n\n{ledger.__doc__}")
    of_ledger = added.add_subparsers(dest="subcommand", required=True, metavar="COMMAND", parser_class=Parser)
    file = {"file": {"type": Path, "help": "ledger, a TOML file"}}
    entry = {
        **file,
        **_PAIR,
        "--trace": _value("FILE", "trace of the difference, which `rlparity run` wrote", Path) | {"required": True},
        "--id": _value("ID", "name of the entry") | {"required": True},
        "--kind": _value("KIND", f"why the engines differ: {' or '.join(KINDS)}", OneOf(KINDS)) | {"required": True},
        "--citation": _value("TEXT", "where it is documented or reported") | {"required": True},
        "--then": _value("WHAT", f"what a run does then: {' or '.join(THEN)}", OneOf(THEN)) | {"required": True},
        "--package": _several("NAME", "a package whose present version the difference depends on") | {"required": True},
        "--share": _value("SHARE", "share of steps that it may explain (default: %(default)s)", SHARE, 0.01),
    }
    command(ledger_command.add, "Write an entry from the trace of a difference.", entry, of_ledger)
    text = "Replay the witnesses: both engines must still differ so."
    command(ledger_command.check, text, {**file, **_PAIR}, of_ledger)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    open_missing_streams()
    parser = build_parser()
    options = parser.parse_args(arguments)
    options.words = sys.argv[1:] if arguments is None else arguments
    if str(options.json) in ("True", "-") and is_output_closed():
        parser.error("--json prints on standard output, which is closed")
    try:
        errors.require_working_directory()
        exit_code = int(options.does(options))
        sys.stdout.flush()
        return exit_code
    except KeyboardInterrupt:
        print("rlparity: stopped.", file=sys.stderr)
        return errors.INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        discard_output()
        return CLOSED_PIPE_EXIT_CODE
    except Exception as error:
        if options.traceback:
            traceback.print_exc()
        if isinstance(error, errors.ParityError):
            fault = error
        elif isinstance(error, OSError) and is_output_full(error):
            discard_output()
            fault = errors.UsageError(f"the output could not be written ({error.strerror}): make room.")
        elif errors.is_out_of_memory(error):
            fault = errors.UsageError(f"this needs more memory than there is: {LESS_MEMORY}.")
        else:
            return errors.report_bug(f"rlparity {options.command}")
        print(f"rlparity: {fault}", file=sys.stderr)
        return fault.exit_code
