"""The command ``rlparity``: its commands, their help, and what becomes of their errors."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rlparity import cli, errors
from rlparity.cli import commands, diff_command, flags, ledger_command, mutants_command, transfer_command
from rlparity.cli.completion import FLAG, HELP, SHELLS, PrintCompletion
from rlparity.cli.doctor import doctor
from rlparity.cli.scaffold import init
from rlparity.cli.skill import skill
from rlparity.core import ledger
from rlparity.core.guard import LESS_MEMORY
from rlparity.core.prices import add_price_flags
from rlparity.debug.attach import debug
from rlparity.engines.serve import serve
from rlparity.io.arguments import Parser
from rlparity.io.console import (
    CLOSED_PIPE_EXIT_CODE,
    discard_output,
    is_output_closed,
    is_output_full,
    open_missing_streams,
)

_EXIT_CODES = (
    "Exit codes: 0 all is well, 1 something differs (or is missing), 2 wrong usage, 3 an engine failed, 130 it was "
    "stopped (Ctrl+C)."
)


class Command(NamedTuple):
    """A command: the function that does it, whose docstring is its help, its flags and their defaults."""

    does: Callable[[argparse.Namespace], int]
    flags: flags.Flags
    defaults: Mapping[str, object]


ENGINE = {"--engine": flags.value("NAME", "the engine to play") | flags.REQUIRED}
COMMANDS = (
    Command(
        init,
        {
            "folder": {"type": Path, "help": "where to write them"},
            "--full": {"action": "store_true", "help": "also what trains it in JAX, evaluates and shows it"},
        },
        {"json": False},
    ),
    Command(skill, {"folder": {"type": Path, "nargs": "?", "help": "where to install it"}}, {"json": False}),
    Command(doctor, flags.JSON, {}),
    Command(commands.run, flags.RUN, {"steps": 1000, "games": 64, "source": "uniform"}),
    Command(commands.replay, flags.REPLAY, {}),
    Command(debug, flags.DEBUG, {}),
    Command(commands.coverage, flags.COMPARISON, {"steps": 1000, "games": 64, "source": "directed"}),
    Command(commands.rewards, flags.REWARDS, {}),
    Command(commands.record, flags.RECORD, {"steps": 200, "games": 8, "source": "uniform"}),
    Command(mutants_command.mutants, flags.MUTANTS, {"steps": 500, "games": 64, "source": "directed"}),
    Command(diff_command.diff, flags.DIFF, {"steps": 200, "games": 16}),
    Command(transfer_command.transfer, flags.TRANSFER, {}),
    Command(serve, {**flags.WORLD, **ENGINE}, {"json": False}),
)
OF_LEDGER = (Command(ledger_command.add, flags.LEDGER_ADD, {}), Command(ledger_command.check, flags.LEDGER_CHECK, {}))


class _Formatter(argparse.HelpFormatter):
    """Wraps each paragraph of a description, and leaves indented ones as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.rstrip().split("\n\n")
        wrap = super()._fill_text
        return "\n\n".join(each if each.startswith(" ") else wrap(each, width, indent) for each in paragraphs)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(prog="rlparity", **_help_of(cli.__doc__))
    parser.add_argument("--traceback", **flags.switch("show where in the code an error arose"))
    parser.add_argument(FLAG, action=PrintCompletion, choices=SHELLS, metavar="SHELL", help=HELP)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        _add(command, subparsers)
    texts = _help_of(ledger_command.__doc__)
    texts["description"], summary = f"{texts['description']}\n\n{ledger.__doc__}", texts["description"]
    added = subparsers.add_parser("ledger", help=summary, **texts)
    of_ledger = added.add_subparsers(dest="subcommand", required=True, metavar="COMMAND", parser_class=Parser)
    for command in OF_LEDGER:
        _add(command, of_ledger)
    return parser


def _add(command: Command, to: Any) -> None:  # noqa: ANN401 - argparse names no type of it
    texts = _help_of(command.does.__doc__)
    summary = texts["description"].partition("\n")[0]
    added = to.add_parser(command.does.__name__, help=summary, allow_abbrev=False, **texts)
    for name, option in command.flags.items():
        added.add_argument(*name.split(), **option)
    if "--timeout" in command.flags:  # it opens engines
        add_price_flags(added)
    added.set_defaults(does=command.does, **command.defaults)


def _help_of(docstring: str | None) -> dict[str, Any]:
    """The description, the examples and the exit codes in the help, as a parser takes them."""
    about, _, examples = inspect.cleandoc(docstring or "").partition("\nExamples:\n")
    shown = textwrap.indent(textwrap.dedent(examples), "  ")
    return {
        "description": about.strip(),
        "epilog": "\n\n".join(["Examples:", shown, _EXIT_CODES]),
        "formatter_class": _Formatter,
    }


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
