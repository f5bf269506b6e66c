"""Shell completion: scripts that shtab generates from the argument parsers."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlparity.errors import UsageError, install_command
from rlparity.io.arguments import OneOf

FLAG = "--print-completion"
SHELLS = ("bash", "zsh", "fish")
HELP = f"print a script that completes this command in a shell: {', '.join(SHELLS)}"


class PrintCompletion(argparse.Action):
    """Argparse action that prints the completion script of the named shell and exits."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: Any, *__: object) -> None:  # noqa: ANN401
        """Print and exit, with code 2 where shtab is not installed."""
        try:
            print(completion_script(parser, shell))
        except UsageError as error:
            parser.exit(error.exit_code, f"{parser.prog}: {error}\n")
        parser.exit()


def completion_script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Generate the completion script of a parser; raises UsageError where shtab is not installed.

    Do not parse with the parser afterwards: its actions are changed to tell shtab which files and words they take.
    """
    try:
        import shtab
    except ModuleNotFoundError:
        raise UsageError(f"completion needs shtab: run `{install_command('shtab')}`.") from None
    for action in _actions(parser):
        if action.metavar in ("DIR", "FOLDER"):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif isinstance(action.type, OneOf):
            action.choices = action.type.words
    return shtab.complete(parser, shell)


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
