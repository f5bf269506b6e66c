"""A setting in one place: a dataclass field that knows its default, check, flag, help and row in the documents."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from parity.errors import UsageError
from parity.reading import is_number, is_whole, shown

Config = TypeVar("Config")
Check = Callable[[Any], str | None]
"""What is wrong with a value, as the end of a sentence that begins with the setting's name; None: nothing."""

_KEY = "setting"
NO_DEFAULT = "–"


@dataclass(frozen=True)
class Setting:
    """What a field of a configuration tells the command line and the documents.

    help: its meaning. group: the heading under which ``--help`` lists it. flag: its flag, from the name unless given.
    kind: from a word of the command line to a value (``bool``: a flag without a value that turns it on).
    check: of values, wherever they come from. shown: the default in words, where it is not the value itself.
    """

    name: str
    default: Any
    help: str
    group: str
    flag: str
    kind: Callable[[str], Any]
    check: Check
    metavar: str
    shown: str | None

    @property
    def default_text(self) -> str:
        """The default as ``--help`` and the documents show it."""
        if self.shown is not None:
            return self.shown
        if self.default is None or self.default is False:
            return NO_DEFAULT
        return f"{self.default:,}" if isinstance(self.default, int) else str(self.default)


def setting(
    default: Any,  # noqa: ANN401 - the value of any field
    help: str,
    *,
    group: str,
    kind: Callable[[str], Any] | None = None,
    flag: str | None = None,
    check: Check = lambda value: None,
    metavar: str | None = None,
    shown: str | None = None,
) -> Any:  # noqa: ANN401 - stands where dataclasses.field does
    """A dataclass field that is a setting; the arguments are those of ``Setting``."""
    chosen = kind or type(default)
    letters: dict[Callable[[str], Any], str] = {int: "N", float: "N", Path: "DIR"}
    metavar = metavar or letters.get(chosen, "NAME")
    return field(default=default, metadata={_KEY: (help, group, flag, chosen, check, metavar, shown)})


def settings_of(config: type[Any]) -> Iterator[Setting]:
    """The settings of a dataclass, in the order of its fields; fields without ``setting`` are left out."""
    for each in dataclasses.fields(config):
        if _KEY in each.metadata:
            help, group, flag, *rest = each.metadata[_KEY]
            name = flag or f"--{each.name.replace('_', '-')}"
            yield Setting(each.name, each.default, help, group, name, *rest)


def check_settings(config: Any) -> None:  # noqa: ANN401 - any dataclass of settings
    """Raises UsageError with one sentence about the first setting whose value is impossible."""
    for each in settings_of(type(config)):
        value = getattr(config, each.name)
        fault = None if value is None and each.default is None else each.check(value)
        if fault:
            raise UsageError(f"{each.name} {fault}, got {value}.")


def add_flags(parser: argparse.ArgumentParser, *configs: type[Any]) -> None:
    """A flag for every setting; one that is not given is None, so that ``given`` can tell."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for each in (each for config in configs for each in settings_of(config)):
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        if each.kind is bool:
            groups[each.group].add_argument(
                each.flag, dest=each.name, action="store_true", default=None, help=each.help
            )
            continue
        default = "" if each.default_text == NO_DEFAULT else f" (default {each.default_text})"
        groups[each.group].add_argument(
            each.flag, dest=each.name, type=_typed(each), metavar=each.metavar, help=each.help + default
        )


def given(arguments: argparse.Namespace, config: type[Any]) -> dict[str, Any]:
    """The settings that the command line names."""
    values = {each.name: getattr(arguments, each.name) for each in settings_of(config)}
    return {name: value for name, value in values.items() if value is not None}


def from_flags(arguments: argparse.Namespace, config: type[Config]) -> Config:
    """The settings as the command line gives them, over the defaults; raises UsageError for an impossible one."""
    settings = config(**given(arguments, config))
    check_settings(settings)
    return settings


def kept(config: type[Any], values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings among the values that a file of a run keeps; others are left out.

    Raises UsageError, naming the file, for the first that is of another type than its setting, or impossible.
    """
    found = {each.name: each for each in settings_of(config) if each.name in values}
    for name, each in found.items():
        value = values[name]
        if value is None and each.default is None:
            continue
        fault = each.check(value) if _is_of(each.kind, value) else f"must be {_KINDS.get(each.kind, 'another')}"
        if fault:
            raise UsageError(f"{path} keeps {shown(value)} as {name}, which {fault}: give another file.")
    return {name: values[name] for name in found}


_KINDS: dict[Callable[[str], Any], str] = {
    int: "a whole number of 64 bits",
    float: "a number",
    str: "a text",
    bool: "true or false",
}


def _is_of(kind: Callable[[str], Any], value: object) -> bool:
    """Whether a value from a file is one of a setting's kind."""
    if kind is float:
        return is_number(value)
    return is_whole(value) if kind is int else type(value) is kind


def as_markdown(*configs: type[Any]) -> str:
    """The settings as the table of the documents."""
    rows = [
        f"| `{each.flag}` | {each.default_text} | {each.help} |" for config in configs for each in settings_of(config)
    ]
    return "\n".join(("| flag | default | meaning |", "|---|---|---|", *rows))


def _typed(each: Setting) -> Callable[[str], Any]:
    def read(word: str) -> Any:  # noqa: ANN401 - whatever the setting holds
        value = _number(word, each.kind) if each.kind in (int, float) else each.kind(word)
        # a wrong value of a flag names the flag; one that comes from elsewhere is named by ``check_settings``
        fault = each.check(value) if each.kind is int else None
        if fault:
            raise argparse.ArgumentTypeError(f"it {fault}, got {word}")
        return value

    return read


def _number(word: str, kind: Callable[[str], Any]) -> Any:  # noqa: ANN401 - int or float
    try:
        return kind(word.replace(",", "") if kind is int else word)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise argparse.ArgumentTypeError(f"expected {what}, got {word!r}") from None


def at_least(least: int) -> Check:
    """A number of at least ``least``."""
    return lambda value: None if value >= least else f"must be at least {least}"


def count(value: int) -> str | None:
    """A number from 1 that JAX can count to, in 32 bits."""
    return at_least(1)(value) if value < 2**31 else "must be below 2^31"


def positive(value: float) -> str | None:
    """A finite number above 0."""
    return None if math.isfinite(value) and value > 0 else "must be a number above 0"


def not_negative(value: float) -> str | None:
    """A finite number of at least 0."""
    return None if math.isfinite(value) and value >= 0 else "must be a number of at least 0"


def fraction(value: float) -> str | None:
    """A number from 0 to 1."""
    return None if 0 <= value <= 1 else "must lie between 0 and 1"


def one_of(*choices: str) -> Check:
    """One of some words."""
    return lambda value: None if value in choices else f"must be {' or '.join(choices)}"


def seed(value: int) -> str | None:
    """A seed of 64 bits."""
    return None if 0 <= value < 2**64 else "must lie between 0 and 2^64 - 1"
