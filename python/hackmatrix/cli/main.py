"""The console command ``hackmatrix``: looks at the first word only and imports nothing but what that word needs."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from importlib import metadata

from hackmatrix import RULES_VERSION, __version__
from hackmatrix.cli.parser import Parser, fail
from parity.errors import ParityError

COMMANDS = {
    "train": "train an agent with PPO on the JAX environment",
    "evaluate": "let an agent play many episodes and say how well they went",
    "train-sb3": "train an agent with MaskablePPO on the Swift engine",
    "watch-sb3": "watch a trained MaskablePPO agent play",
    "bench": "measure the environment, the trainer and the start-up",
    "explain": "play a game and say where each of its rewards comes from",
    "version": "print the versions of the package, the rules and JAX",
}
CHOICES = f"choose one of {', '.join(COMMANDS)}"
INTERRUPTED_EXIT_CODE = 130


def version_text() -> str:
    """One line with the versions of the package, of the rules it implements and of the installed JAX."""
    return f"hackmatrix {__version__}, rules {RULES_VERSION}, jax {metadata.version('jax')}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code.

    Args:
        argv: the words after ``hackmatrix``; by default those of the process.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    parser = _parser()
    if not words:
        parser.error(f"a command is missing; {CHOICES}")
    # Only the first word is this parser's: the rest, `--help` too, belongs to the command.
    command, *arguments = words
    if command in ("-h", "--help"):
        parser.print_help()
        return 0
    if command in ("version", "--version"):
        if arguments:
            parser.error(f"{command} takes no arguments, got {arguments[0]!r}")
        print(version_text())
        return 0
    if command not in COMMANDS:
        parser.error(f"unknown command {command!r}; {CHOICES}")
    try:
        exit_code: int = importlib.import_module(f"hackmatrix.cli.{command.replace('-', '_')}").main(arguments)
    except ParityError as error:
        fail(error)
    except KeyboardInterrupt:
        print("hackmatrix: interrupted.", file=sys.stderr)
        return INTERRUPTED_EXIT_CODE
    return exit_code


def _parser() -> Parser:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {name:{width}}  {purpose}" for name, purpose in COMMANDS.items())
    return Parser(
        prog="hackmatrix",
        usage="hackmatrix COMMAND [ARGUMENT ...]",
        description=f"commands:\n{commands}",
        epilog="`hackmatrix COMMAND --help` lists a command's arguments.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


if __name__ == "__main__":
    sys.exit(main())
