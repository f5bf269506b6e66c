"""Command-line values: numbers in ranges, file names and output files, each with one sentence for an invalid value.

The harness, rlworldkit and the worlds parse flags with these, and validate settings from other sources with them.
"""

import argparse
import difflib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from rlparity.errors import UsageError, printable
from rlparity.io.atomic_write import LONGEST_NAME, check_output
from rlparity.io.console import accept_every_sign, is_output_closed

STANDARD_OUTPUT = Path("-")
"""Path that file flags take for standard output."""

_is_asked_for_parser: ContextVar[bool] = ContextVar("is_asked_for_parser", default=False)


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` that states a usage error in one sentence, without the usage block, and exits with 2.

    Creating one also lets the process print any character in a terminal of any encoding (``accept_every_sign``).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - argparse's own
        accept_every_sign()
        super().__init__(*args, **kwargs)
        self.before_help: Callable[[], object] = lambda: None
        self._rare: list[argparse.Action] = []

    def error(self, message: str) -> NoReturn:
        """State the fault in one sentence and exit with code 2."""
        self.exit(2, f"{self.prog}: {printable(message)} (see `{self.prog} --help`).\n")

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> tuple[Any, list[str]]:  # type: ignore[override]  # noqa: ANN401
        """Parse as ``parse_args``: unknown words are usage errors, so is ``--flag=--``, on which argparse may fail."""
        if _is_asked_for_parser.get():
            raise _Reached(self)
        words = list(sys.argv[1:] if args is None else args)
        for word in words:
            if word.startswith("-") and word.endswith("=--"):
                self.error(f"argument {word.removesuffix('=--')}: expected a value, got '--'")
        found, left = super().parse_known_args(words, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}{self._resembling(left)}")
        return found, left

    def _resembling(self, words: Sequence[str]) -> str:
        """Suggest a flag that the first unknown one of these words resembles, as the end of a sentence; else empty."""
        flags = (word.partition("=")[0] for word in words if word.startswith("--"))
        close = [each for flag in flags for each in difflib.get_close_matches(flag, self._option_string_actions, 1)]
        return f"; did you mean {close[0]}?" if close else ""

    def show_first(self, *names: str) -> None:
        """Let ``--help`` list only the flags of these names, and ``--help-all`` every flag."""
        self._rare = [each for each in self._actions if each.option_strings and each.dest not in ("help", *names)]
        text = f"also show {len(self._rare)} less common flags, and exit"
        self.add_argument("--help-all", action=_HelpAll, nargs=0, default=argparse.SUPPRESS, help=text)

    def format_help(self, *, whole: bool = False) -> str:
        """Format the help, after ``before_help`` has filled in what is slow to find out."""
        self.before_help()
        hidden = {} if whole else {each: each.help for each in self._rare}
        for each in hidden:
            each.help = argparse.SUPPRESS
        try:
            return super().format_help()
        finally:
            for each, text in hidden.items():
                each.help = text


class _Reached(BaseException):
    """Exception that carries a parser out of the command that made it."""

    def __init__(self, parser: Parser) -> None:
        super().__init__()
        self.parser = parser


def parser_of(command: Callable[[], object]) -> Parser:
    """Get the parser of a command, which is run only up to the point where it parses its words.

    Raises LookupError where the command uses no parser, and whatever the command raises before it parses.
    """
    token = _is_asked_for_parser.set(True)
    try:
        command()
    except _Reached as reached:
        return reached.parser
    finally:
        _is_asked_for_parser.reset(token)
    raise LookupError("the command reads its words with no parser")


class _HelpAll(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        assert isinstance(parser, Parser)
        print(parser.format_help(whole=True), end="")
        parser.exit()


class Values(ABC):
    """Valid values of a setting: a ``type`` for argparse, and a validator of values from other sources."""

    @abstractmethod
    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Validate a value; returns its fault as the end of a sentence that begins with the setting's name, or None."""

    def span(self) -> str:
        """Describe the valid values briefly, for help and tables; empty where the setting's own help does."""
        return ""

    def read(self, word: str) -> Any:  # noqa: ANN401 - of the setting's type
        """Convert a word to a value; raises ValueError where it cannot be converted."""
        return word

    def __call__(self, word: str) -> Any:  # noqa: ANN401 - of the setting's type
        """Convert and validate a word of the command line; raises ArgumentTypeError for an invalid one."""
        try:
            value = self.read(word)
        except ValueError:
            value = None
        if fault := self.fault(value):
            raise argparse.ArgumentTypeError(f"it {fault}, got {word!r}")
        return value


@dataclass(frozen=True)
class IntRange(Values):
    """Whole numbers from ``least`` to ``most``; on the command line commas may group their digits."""

    least: int
    most: int

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        fits = isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most
        return None if fits else f"must be a whole number from {self.span()}"

    def span(self) -> str:
        return f"{self.least:,} to {self.most:,}"

    def read(self, word: str) -> int:
        return int(word.replace(",", ""))


@dataclass(frozen=True)
class FloatRange(Values):
    """Numbers from ``least`` (itself excluded with ``above``) to ``most``; never NaN."""

    least: float
    most: float
    above: bool = False

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and self.least <= value <= self.most and not (self.above and value == self.least):
            return None
        return f"must be a number {'' if self.above else 'from '}{self.span()}"

    def span(self) -> str:
        return f"above {self.least:g} to {self.most:g}" if self.above else f"{self.least:g} to {self.most:g}"

    def read(self, word: str) -> float:
        return float(word)


class FileName(Values):
    """Names for a file or folder that every tool and terminal can handle."""

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        fits = isinstance(value, str) and value.isprintable() and "/" not in value and "\\" not in value
        if not fits or not value.strip() or value[0] in "-." or len(value.encode()) > LONGEST_NAME:
            most = f"must be a file name of 1 to {LONGEST_NAME} bytes"
            return f"{most}, printable, without slashes and without a dash or a dot in front"
        return None


@dataclass(frozen=True)
class OneOf(Values):
    """One of several words."""

    words: tuple[str, ...]

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        return None if isinstance(value, str) and value in self.words else f"must be {self.span()}"

    def span(self) -> str:
        return " or ".join(self.words)


@dataclass(frozen=True)
class OutputFile:
    """Paths of files to write, checked before any work is done: a ``type`` for argparse.

    has_streams: accept - for standard output, pipes and devices. makes_folders: as in ``check_output``.
    """

    has_streams: bool = False
    makes_folders: bool = False

    def __call__(self, word: str) -> Path:
        """Convert a word to a path; raises ArgumentTypeError where nothing can be written there."""
        path = Path(word)
        if not word:
            raise argparse.ArgumentTypeError("the name of the file is missing")
        if path == STANDARD_OUTPUT and self.has_streams:
            if is_output_closed():
                raise argparse.ArgumentTypeError("standard output is closed: name a file")
            return path
        try:
            check_output(path, makes_folders=self.makes_folders, streams=self.has_streams)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error).rstrip(".")) from error
        return path


def two_engines(text: str) -> tuple[str, str]:
    """Split ``a,b`` into two engine names; raises ArgumentTypeError where there are not two."""
    names = text.split(",")
    if len(names) != 2 or not all(names):
        raise argparse.ArgumentTypeError(f"'{text}' does not name two engines as a,b")
    return names[0], names[1]


SEEDS = IntRange(1, 10_000)
SEED = IntRange(0, 2**64 - 1)
GAMES = IntRange(1, 2**20)
"""Number of parallel games: a million fill the memory of the largest machines."""
STEPS = IntRange(1, 2**31 - 1)
"""Number of steps, or of anything else that is counted in int32."""
ALL_STEPS = IntRange(1, 2**53)
"""Number of steps of all games together; exact in a double, which JSON and charts use."""
SHARE = FloatRange(0, 1)
SECONDS = FloatRange(0.01, 1e6)
