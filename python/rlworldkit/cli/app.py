"""The console command of a world: looks at the first word only and imports nothing but what that word needs.

The ``main`` of each command takes the world and the words after the command, and returns the exit code. It raises
SystemExit with code 2 after one sentence on standard error where the command line is wrong, and ParityError for what
cannot be used or fails.
"""

import argparse
import contextlib
import importlib
import logging
import sys
from collections.abc import Sequence
from functools import partial
from importlib import metadata

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
from rlworldkit.game import Game
from rlworldkit.jax.xla import jax_refusal

KIT_COMMANDS = {
    "train": "train an agent with PPO on the JAX engine",
    "sweep": "search for good settings and prices, with Optuna",
    "evaluate": "let an agent play many episodes and say how well they went",
    "compare": "compare groups of runs, with intervals over their seeds",
    "train-sb3": "train an agent with MaskablePPO of Stable-Baselines3",
    "bench": "measure environments, trainers and start-up",
    "play": "play the game in the terminal",
    "watch": "watch a trained agent play",
    "export": "write an agent's policy as ONNX, safetensors or npz, for other programs",
    "view": "write a page of an agent's games, of a trace or of a run",
}
VERSION = "version"


def main(game: Game, argv: Sequence[str] | None = None) -> int:
    """Run one subcommand, by default with the words of the process, and return its exit code.

    Raises SystemExit, with code 2 and one sentence on standard error, where the command line is wrong.
    """
    open_missing_streams()
    # matplotlib warns of a home that it cannot write to, and of fonts that it looks through: neither asks for anything
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    words = list(sys.argv[1:] if argv is None else argv)
    purposes = _purposes(game)
    parser = _parser(game, purposes)
    choices = f"choose one of {', '.join(purposes)}"
    if not words:
        parser.error(f"a command is missing; {choices}")
    # Only the first word is this parser's: the rest, `--help` too, belongs to the command.
    command, *arguments = words
    if command in ("-h", "--help"):
        parser.print_help()
        return 0
    if command in (VERSION, f"--{VERSION}"):
        command = VERSION
        if arguments:
            parser.error(f"{command} takes no arguments, got {arguments[0]!r}")
    elif command == FLAG:
        _add_commands(game, parser)
        parser.parse_args([command, *arguments])
    elif command not in purposes:
        parser.error(f"unknown command {command!r}; {choices}")
    try:
        exit_code = _run(game, command, arguments)
        sys.stdout.flush()
        return exit_code
    except ParityError as error:
        fail(error)
    except KeyboardInterrupt:
        print(f"{game.name}: interrupted.", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        discard_output()
        return CLOSED_PIPE_EXIT_CODE
    except Exception as error:
        if isinstance(error, OSError) and is_output_full(error):
            discard_output()
            fail(f"{game.name}: the output could not be written ({error.strerror}): make room, or send it elsewhere.")
        if refusal := jax_refusal(error):
            fail(refusal)
        if not is_out_of_memory(error):
            return report_bug(f"{game.name} {command}")
        less = "give fewer --num-envs" if command in KIT_COMMANDS else "ask for less at once"
        fail(f"{game.name} {command} needs more memory than there is: {less}.")


def version_text(game: Game) -> str:
    """One line with the versions of the package, of the rules it implements and of what its engine computes with."""
    try:
        installed = metadata.version(game.library)
    except metadata.PackageNotFoundError:
        installed = "not installed"
    return f"{game.name} {game.version}, rules {game.rules_version}, {game.library} {installed}"


def kit_commands(game: Game) -> dict[str, str]:
    """Worldkit's commands that this world has, and what each is for."""
    is_missing = dict.fromkeys(("train", "sweep"), game.train_env is None)
    is_missing |= dict.fromkeys(("evaluate", "compare"), game.evaluation is None)
    is_missing |= dict.fromkeys(("play", "watch", "view", "export"), game.view is None)
    return {name: purpose for name, purpose in KIT_COMMANDS.items() if not is_missing.get(name)}


def _run(game: Game, command: str, arguments: list[str]) -> int:
    if command == VERSION:
        print(version_text(game))
        return 0
    require_working_directory()
    try:
        if command in game.commands:
            return game.commands[command].main(arguments)
        module = importlib.import_module(f"rlworldkit.cli.{command.replace('-', '_')}")
        return int(module.main(game, arguments))
    except ModuleNotFoundError as error:
        missing, _, _ = (error.name or "").partition(".")
        if missing in (game.module.partition(".")[0], "rlworldkit", "rlparity"):
            raise
        raise UsageError(f"{game.name} {command} needs {missing}: run `{install_package(missing)}`.") from error


def _purposes(game: Game) -> dict[str, str]:
    own = {name: command.purpose for name, command in game.commands.items()}
    return {**kit_commands(game), **own, VERSION: f"print the versions of the package, the rules and {game.library}"}


def _add_commands(game: Game, parser: Parser) -> None:
    """Give the parser of the whole command those of its subcommands, which take a while to import."""
    subparsers = parser.add_subparsers()
    for command, purpose in _purposes(game).items():
        parents = []
        # a command whose extra is not installed has a name and no more
        with contextlib.suppress(ParityError):
            parents += [] if command == VERSION else [parser_of(partial(_run, game, command, []))]
        subparsers.add_parser(command, parents=parents, add_help=False, help=purpose)


def _parser(game: Game, purposes: dict[str, str]) -> Parser:
    width = max(map(len, purposes))
    commands = "\n".join(f"  {name:{width}}  {purpose}" for name, purpose in purposes.items())
    parser = Parser(
        prog=game.name,
        usage=f"{game.name} COMMAND [ARGUMENT ...]",
        description=f"commands:\n{commands}",
        epilog=f"`{game.name} COMMAND --help` lists a command's arguments.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(FLAG, action=PrintCompletion, choices=SHELLS, metavar="SHELL", help=HELP)
    return parser
