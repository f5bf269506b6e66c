"""Entry point of a world's console command: dispatches on the first word, and imports only what that word needs.

The ``main`` of each command takes the program and the words after the command, and returns the exit code. It raises
SystemExit with code 2, after one sentence on standard error, if the command line is wrong, and ParityError if
something cannot be used or fails.
"""

import argparse
import contextlib
import importlib
import logging
import sys
from collections.abc import Sequence
from functools import partial
from importlib import metadata

from rlparity import World
from rlparity.cli.completion import FLAG, HELP, SHELLS, PrintCompletion
from rlparity.errors import (
    INTERRUPTED_EXIT_CODE,
    ParityError,
    UsageError,
    is_out_of_memory,
    report_bug,
    require_working_directory,
)
from rlparity.io.arguments import Parser, parser_of
from rlparity.io.console import CLOSED_PIPE_EXIT_CODE, discard_output, is_output_full, open_missing_streams
from rlworldkit.cli.outputs import fail
from rlworldkit.extras import install_package
from rlworldkit.jax.xla import jax_refusal
from rlworldkit.program import Program

KIT_COMMANDS = {
    "train": "train an agent with PPO on the JAX engine",
    "sweep": "search for good settings and prices, with Optuna",
    "evaluate": "evaluate an agent over many games, with intervals",
    "compare": "compare groups of runs, with intervals over their seeds",
    "train-sb3": "train an agent with MaskablePPO of Stable-Baselines3",
    "bench": "measure environments, trainers and start-up",
    "play": "play the game in the terminal",
    "watch": "watch a trained agent play",
    "export": "write an agent's policy as ONNX, safetensors or npz, for other programs",
    "view": "write a web page of an agent's games, a trace or a run",
}
VERSION = "version"


def main(program: Program | World, argv: Sequence[str] | None = None) -> int:
    """Run one subcommand of a program, or of a world's default program, and return its exit code.

    argv: the words of the command line; by default those of the process.

    Raises SystemExit, with code 2 and one sentence on standard error, if the command line is wrong.
    """
    program = program if isinstance(program, Program) else Program((program,))
    open_missing_streams()
    # matplotlib warns of a home that it cannot write to, and of fonts that it searches: neither needs an action
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    words = list(sys.argv[1:] if argv is None else argv)
    purposes = _purposes(program)
    parser = _parser(program, purposes)
    choices = f"choose one of {', '.join(purposes)}"
    if not words:
        parser.error(f"a command is missing; {choices}")
    # This parser takes only the first word; the rest, including `--help`, belongs to the command.
    command, *arguments = words
    if command in ("-h", "--help"):
        parser.print_help()
        return 0
    if command in (VERSION, f"--{VERSION}"):
        command = VERSION
        if arguments:
            parser.error(f"{command} takes no arguments, got {arguments[0]!r}")
    elif command == FLAG:
        _add_commands(program, parser)
        parser.parse_args([command, *arguments])
    elif command not in purposes:
        parser.error(f"unknown command {command!r}; {choices}")
    try:
        exit_code = _run(program, command, arguments)
        sys.stdout.flush()
        return exit_code
    except ParityError as error:
        fail(error, min(error.exit_code, UsageError.exit_code))
    except KeyboardInterrupt:
        print(f"{program.name}: interrupted.", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        discard_output()
        return CLOSED_PIPE_EXIT_CODE
    except Exception as error:
        if isinstance(error, OSError) and is_output_full(error):
            discard_output()
            fail(
                f"{program.name}: the output could not be written ({error.strerror}): make room, or send it elsewhere."
            )
        if refusal := jax_refusal(error):
            fail(refusal)
        if not is_out_of_memory(error):
            return report_bug(f"{program.name} {command}")
        less = "give fewer --num-envs" if command in KIT_COMMANDS else "ask for less at once"
        fail(f"{program.name} {command} needs more memory than there is: {less}.")


def version_text(program: Program) -> str:
    """One line with the versions of the package, of its rules and of the library that its engine computes with."""
    try:
        installed = metadata.version(program.library)
    except metadata.PackageNotFoundError:
        installed = "not installed"
    return f"{program.name} {program.version}, rules {program.world.rules_version}, {program.library} {installed}"


def kit_commands(program: Program) -> dict[str, str]:
    """Commands of rlworldkit that the program offers besides its own, with the purpose of each."""
    left_out = {*program.commands, *(() if program.trains else ("train", "sweep"))}
    return {name: purpose for name, purpose in KIT_COMMANDS.items() if name not in left_out}


def _run(program: Program, command: str, arguments: list[str]) -> int:
    if command == VERSION:
        print(version_text(program))
        return 0
    require_working_directory()
    try:
        if command in program.commands:
            return program.commands[command].main(arguments)
        module = importlib.import_module(f"rlworldkit.cli.{command.replace('-', '_')}")
        return int(module.main(program, arguments))
    except ModuleNotFoundError as error:
        missing, _, _ = (error.name or "").partition(".")
        if missing in (program.module.partition(".")[0], "rlworldkit", "rlparity"):
            raise
        raise UsageError(f"{program.name} {command} needs {missing}: run `{install_package(missing)}`.") from error


def _purposes(program: Program) -> dict[str, str]:
    own = {name: command.purpose for name, command in program.commands.items()}
    return {
        **kit_commands(program),
        **own,
        VERSION: f"print the versions of the package, the rules and {program.library}",
    }


def _add_commands(program: Program, parser: Parser) -> None:
    """Add the parsers of the subcommands, which take a while to import, to the parser of the whole command."""
    subparsers = parser.add_subparsers()
    for command, purpose in _purposes(program).items():
        parents = []
        # a command whose extra is not installed is added without its flags
        with contextlib.suppress(ParityError):
            parents += [] if command == VERSION else [parser_of(partial(_run, program, command, []))]
        subparsers.add_parser(command, parents=parents, add_help=False, help=purpose)


def _parser(program: Program, purposes: dict[str, str]) -> Parser:
    width = max(map(len, purposes))
    commands = "\n".join(f"  {name:{width}}  {purpose}" for name, purpose in purposes.items())
    parser = Parser(
        prog=program.name,
        usage=f"{program.name} COMMAND [ARGUMENT ...]",
        description=f"commands:\n{commands}",
        epilog=f"`{program.name} COMMAND --help` lists a command's arguments.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(FLAG, action=PrintCompletion, choices=SHELLS, metavar="SHELL", help=HELP)
    return parser
