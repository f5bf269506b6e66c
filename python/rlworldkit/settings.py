"""A setting in one place: a dataclass field that knows its default, check, flag, help and row in the documents."""

import argparse
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import FloatRange, IntRange, Values

Config = TypeVar("Config")

_KEY = "setting"
NO_DEFAULT = "–"


@dataclass(frozen=True)
class Setting:
    """A field of a configuration, as the command line and the documents show it.

    help: its meaning. group: the heading under which ``--help`` lists it. flag: its flag, from the name unless given.
    kind: from a word of the command line to a value (``bool``: a flag without a value that turns it on).
    values: those it may have, wherever they come from; every number has them.
    default_help: the default in words, where it is not the value itself.
    """

    name: str
    default: Any
    help: str
    group: str
    flag: str
    kind: Callable[[str], Any]
    values: Values | None
    metavar: str
    default_help: str | None

    @property
    def default_text(self) -> str:
        """The default as ``--help`` and the documents show it."""
        if self.default_help is not None:
            return self.default_help
        if self.default is None or self.default is False:
            return NO_DEFAULT
        if self.default is True:
            return "on"
        return f"{self.default:,}" if isinstance(self.default, int) else str(self.default)


def setting(
    default: Any,  # noqa: ANN401 - the value of any field
    help: str,
    *,
    group: str,
    kind: Callable[[str], Any] | None = None,
    flag: str | None = None,
    values: Values | None = None,
    metavar: str | None = None,
    default_help: str | None = None,
) -> Any:  # noqa: ANN401 - stands where dataclasses.field does
    """A dataclass field that is a setting; the arguments are those of ``Setting``."""
    chosen = kind or type(default)
    number = isinstance(values, (IntRange, FloatRange))
    metavar = metavar or ("N" if number else "DIR" if chosen is Path else "NAME")
    return field(default=default, metadata={_KEY: (help, group, flag, chosen, values, metavar, default_help)})


def settings_of(config: type[Any]) -> Iterator[Setting]:
    """The settings of a dataclass, in the order of its fields; fields without ``setting`` are left out."""
    for each in dataclasses.fields(config):
        if _KEY in each.metadata:
            help, group, flag, *rest = each.metadata[_KEY]
            name = flag or f"--{each.name.replace('_', '-')}"
            yield Setting(each.name, each.default, help, group, name, *rest)


def settings_by_name(config: type[Any]) -> dict[str, Setting]:
    """The settings of a dataclass by every name, that of the flag too: ``learning_rate`` and ``lr``; or with dashes."""
    names = ((each, name) for each in settings_of(config) for name in (each.name, each.flag.lstrip("-")))
    return {named: each for each, name in names for named in (name.replace("-", "_"), name.replace("_", "-"))}


def check_settings(config: Any) -> None:  # noqa: ANN401 - any dataclass of settings
    """Raises UsageError with one sentence about the first setting whose value is impossible."""
    for each in settings_of(type(config)):
        value = getattr(config, each.name)
        is_left_out = value is None and each.default is None
        fault = each.values.fault(value) if each.values and not is_left_out else None
        if fault:
            raise UsageError(f"{each.name} {fault}, got {value!r}.")


def add_flags(parser: argparse.ArgumentParser, *configs: type[Any]) -> None:
    """A flag for every setting; one that is not given is None, so that ``given`` can tell."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for each in (each for config in configs for each in settings_of(config)):
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        if each.kind is bool:
            groups[each.group].add_argument(
                *_flags(each, each.flag),
                dest=each.name,
                action=argparse.BooleanOptionalAction if each.default else "store_true",
                default=None,
                help=each.help,
            )
            continue
        add_flag(groups[each.group], each, each.name, each.flag)


def add_flag(group: argparse._ActionsContainer, each: Setting, dest: str, *flags: str, note: str = "") -> None:
    """A flag with a value for a setting; ``note``: what its help says besides meaning, range and default."""
    default = "" if each.default_text == NO_DEFAULT else f"default {each.default_text}{note}"
    notes = "; ".join(filter(None, (each.values.span() if each.values else "", default)))
    shown = f"{each.help} ({notes})" if notes else each.help
    group.add_argument(
        *_flags(each, *flags), dest=dest, type=each.values or each.kind, metavar=each.metavar, help=shown
    )


def _flags(each: Setting, *flags: str) -> dict[str, None]:
    """These flags of a setting, and the one of its name in files, each once."""
    return dict.fromkeys([*flags, f"--{each.name.replace('_', '-')}"])


def given(arguments: argparse.Namespace, config: type[Any]) -> dict[str, Any]:
    """The settings that the command line names."""
    values = {each.name: getattr(arguments, each.name) for each in settings_of(config)}
    return {name: value for name, value in values.items() if value is not None}


def from_flags(arguments: argparse.Namespace, config: type[Config]) -> Config:
    """The settings as the command line gives them, over the defaults; raises UsageError for an impossible one."""
    settings = config(**given(arguments, config))
    check_settings(settings)
    return settings


def as_flags(config: type[Any], values: Mapping[str, Any]) -> str:
    """The settings of a dataclass among ``values`` as a command line says them."""
    named = [(each.flag, values[each.name]) for each in settings_of(config) if each.name in values]
    return " ".join(f"{flag} {value:,}" if isinstance(value, int) else f"{flag} {value}" for flag, value in named)


def saved_settings(config: type[Any], values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings among the values that a file of a run keeps; others are left out.

    Raises UsageError, naming the file, for the first that is of another type than its setting, or impossible.
    """
    found = {each.name: each for each in settings_of(config) if each.name in values}
    for name, each in found.items():
        if fault := fault_of(each, values[name]):
            raise UsageError(f"{path} keeps {quoted(values[name])} as {name}, which {fault}: give another file.")
    return {name: values[name] for name in found}


def fault_of(each: Setting, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
    """The fault of a value from a file, as the end of a sentence that begins with its name; None: nothing."""
    if value is None and each.default is None:
        return None
    if each.values is None:
        kind, text = (bool, "true or false") if each.kind is bool else (str, "a text")
        return None if type(value) is kind else f"must be {text}"
    if isinstance(value, bool) and each.values.fault(value) is None:
        return "must be a number, not true or false"
    return each.values.fault(value)
