"""The command ``rlparity``: argument parser, help texts, dispatch and error handling."""

import argparse
import inspect
import sys
import textwrap
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn, TypeVar

from rlparity import cli, errors
from rlparity.cli import commands, diff_command, flags, ledger_command, mutants_command, transfer_command
from rlparity.cli.completion import FLAG, HELP, SHELLS, PrintCompletion
from rlparity.cli.doctor import doctor
from rlparity.cli.resources import init, mcp, schema, skill
from rlparity.core import ledger
from rlparity.core.guard import LESS_MEMORY
from rlparity.core.prices import add_price_flags
from rlparity.debug.attach import debug
from rlparity.engines.serve import serve
from rlparity.io.arguments import Parser
from rlparity.io.console import (
    CLOSED_PIPE_EXIT_CODE,
    Answer,
    command_words,
    discard_output,
    is_output_closed,
    is_output_full,
    open_missing_streams,
    output_aside,
)
from rlparity.tools.documents import ErrorDocument, FailureDocument
from rlparity.tools.report import NextCommand

A = TypeVar("A", bound=Answer | int | None)
_EXIT_CODES = "Exit codes: 0 success, 1 something differs or is missing, 2 wrong usage, 3 an engine failed, 130 Ctrl+C."


class Subcommand(NamedTuple):
    """A command: its function, whose docstring is the help text, its flags and their defaults."""

    does: Callable[[argparse.Namespace], Answer | int]
    flags: flags.Flags
    defaults: Mapping[str, object] = MappingProxyType({})


ENGINE = {"--engine": flags.value("NAME", "engine to play") | flags.REQUIRED}
COMMANDS = (
    Subcommand(
        init,
        {
            "folder": {"type": Path, "help": "folder to write to"},
            "--full": flags.switch("also write modules to train the world in JAX, evaluate and show it"),
        },
    ),
    Subcommand(skill, {"folder": {"type": Path, "nargs": "?", "help": "folder to install it in"}}),
    Subcommand(doctor, flags.JSON),
    Subcommand(commands.run, flags.RUN, {"steps": 1000, "games": 64, "source": "uniform"}),
    Subcommand(commands.replay, flags.REPLAY),
    Subcommand(debug, flags.DEBUG),
    Subcommand(commands.coverage, flags.COMPARISON, {"steps": 1000, "games": 64, "source": "directed"}),
    Subcommand(commands.rewards, flags.REWARDS),
    Subcommand(commands.record, flags.RECORD, {"steps": 200, "games": 8, "source": "uniform"}),
    Subcommand(mutants_command.mutants, flags.MUTANTS, {"steps": 500, "games": 64, "source": "directed"}),
    Subcommand(diff_command.diff, flags.DIFF, {"steps": 200, "games": 16}),
    Subcommand(transfer_command.transfer, flags.TRANSFER),
    Subcommand(schema, {"name": {"nargs": "?", "help": "command (default: list all)"}}),
    Subcommand(mcp, {}),
    Subcommand(serve, {**flags.WORLD, **ENGINE}),
)
OF_LEDGER = (Subcommand(ledger_command.add, flags.LEDGER_ADD), Subcommand(ledger_command.check, flags.LEDGER_CHECK))


class _WrongWords(errors.UsageError):
    """Command line that cannot be parsed; the message begins with the program's name."""


class _CommandParser(Parser):
    def error(self, message: str) -> NoReturn:
        """Raise the error instead of exiting, so that it can be printed as JSON."""
        raise _WrongWords(f"{self.prog}: {message} (see `{self.prog} --help`).")


class _Formatter(argparse.HelpFormatter):
    """Help formatter that wraps each paragraph of a description, and keeps indented ones as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.rstrip().split("\n\n")
        wrap = super()._fill_text
        return "\n\n".join(each if each.startswith(" ") else wrap(each, width, indent) for each in paragraphs)


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command line; it raises UsageError for wrong arguments."""
    parser = _CommandParser(prog="rlparity", **_help_of(cli.__doc__))
    parser.add_argument("--traceback", **flags.switch("show where in the code an error arose"))
    parser.add_argument(FLAG, action=PrintCompletion, choices=SHELLS, metavar="SHELL", help=HELP)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_CommandParser)
    for command in COMMANDS:
        _add(command, subparsers)
    texts = _help_of(ledger_command.__doc__)
    texts["description"], summary = f"{texts['description']}\n\n{ledger.__doc__}", texts["description"]
    added = subparsers.add_parser("ledger", help=summary, **texts)
    of_ledger = added.add_subparsers(dest="subcommand", required=True, metavar="COMMAND", parser_class=_CommandParser)
    for command in OF_LEDGER:
        _add(command, of_ledger)
    return parser


def _add(command: Subcommand, to: Any) -> None:  # noqa: ANN401 - argparse names no type of it
    texts = _help_of(command.does.__doc__)
    summary = texts["description"].partition("\n")[0]
    added = to.add_parser(command.does.__name__, help=summary, allow_abbrev=False, **texts)
    for name, option in command.flags.items():
        added.add_argument(*name.split(), **option)
    if "--timeout" in command.flags:  # it opens engines
        add_price_flags(added)
    added.set_defaults(does=command.does, **command.defaults)


def _help_of(docstring: str | None) -> dict[str, Any]:
    """Split a docstring into keyword arguments of a parser: description, and epilog with examples and exit codes."""
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
    words = sys.argv[1:] if arguments is None else arguments
    as_json, code = _asks_for_json(words), 0
    try:
        answer: Answer | int | None = _answered(lambda: _do(words, as_json=as_json), words, as_json=as_json)
        while isinstance(answer, Answer):
            answer.print(as_json=as_json)
            sys.stdout.flush()
            code, answer = answer.exit_code, _answered(answer.then, words, as_json=as_json)
        sys.stdout.flush()
        return code if answer is None else answer
    except KeyboardInterrupt:
        print("rlparity: stopped.", file=sys.stderr)
        return errors.INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        discard_output()
        return CLOSED_PIPE_EXIT_CODE
    except OSError as error:
        if not is_output_full(error):
            raise
        discard_output()
        print(f"rlparity: the output could not be written ({error.strerror}): make room.", file=sys.stderr)
        return errors.UsageError.exit_code


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether a command line, which may be invalid, asks for JSON on standard output."""
    return not {"--json=-", "--commands"}.isdisjoint(words) or any(
        word == "--json" and (following == "-" or "diff" not in words) for word, following in pairwise([*words, ""])
    )


def _do(words: Sequence[str], *, as_json: bool) -> Answer | int:
    """Parse and run a command line; return its Answer, or the exit code of a command that printed by itself."""
    parser = build_parser()
    options = parser.parse_args(words)
    options.words, options.parser = words, parser
    if as_json and is_output_closed():
        parser.error("--json prints on standard output, which is closed")
    errors.require_working_directory()
    return options.does(options)


def _answered(make: Callable[[], A], words: Sequence[str], *, as_json: bool) -> A | Answer:
    """Return the result of ``make``; if it raises, print the error to standard error and return a FailureDocument.

    Where JSON is asked for, output that environments print is kept out of standard output.
    """
    command = next((word for word in words if not word.startswith("-")), "")
    try:
        with output_aside() if as_json else nullcontext():
            return make()
    except Exception as error:
        if isinstance(error, BrokenPipeError) or (isinstance(error, OSError) and is_output_full(error)):
            raise
        if "--traceback" in words:
            traceback.print_exc()
        if isinstance(error, errors.ParityError):
            fault = error
        elif errors.is_out_of_memory(error):
            fault = errors.UsageError(f"this needs more memory than there is: {LESS_MEMORY}.")
        else:
            errors.report_bug(f"rlparity {command}")
            return _failure("bug", repr(error), "--traceback", *words)
        print(fault if isinstance(fault, _WrongWords) else f"rlparity: {fault}", file=sys.stderr)
        if fault.exit_code == errors.UsageError.exit_code:
            return _failure("usage", str(fault), *[command] * bool(command), "--help")
        return _failure("engine", str(fault), "--traceback", *words)


def _failure(kind: Literal["usage", "engine", "bug"], message: str, *words: str) -> Answer:
    """Make the Answer of a failed command. ``words``: arguments of the command that shows more."""
    more = NextCommand(
        "read the help" if kind == "usage" else "see where", command_words("rlparity", "rlparity", *words)
    )
    code = (errors.UsageError if kind == "usage" else errors.ParityError).exit_code
    return Answer(FailureDocument(ErrorDocument(kind, message, [more])), lambda _: None, code)
