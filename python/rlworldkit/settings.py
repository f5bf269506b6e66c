"""Settings: dataclass fields that declare default, validation, flag, help and documentation in one place.

Values from a flag, a TOML file, an environment variable or the file of a run are validated in the same way.
"""

import argparse
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

from rlparity.errors import UsageError, quoted, unknown
from rlparity.io.arguments import FloatRange, IntRange, OneOf, Values
from rlparity.io.safe_read import read_toml, refused

Config = TypeVar("Config")

_KEY = "setting"
NO_DEFAULT = "–"


@dataclass(frozen=True)
class Setting:
    """A field of a configuration, as the command line and the documents show it.

    help: its meaning. group: the heading under which ``--help`` lists it. flag: its flag, by default from the name.
    kind: ``bool`` (a flag without a value, which turns it on), ``Path`` or ``str``, as the field's annotation says.
    values: the allowed values from any source; required for numbers, and taken from the annotation of a ``Literal``.
    """

    name: str
    default: Any
    help: str
    group: str
    flag: str
    kind: type[Any]
    values: Values | None
    metavar: str

    @property
    def default_text(self) -> str:
        """The default as ``--help`` and the documents show it."""
        if self.default is None or isinstance(self.default, bool):
            return "on" if self.default else NO_DEFAULT
        return f"{self.default:,}" if isinstance(self.default, int) else str(self.default)

    def fault(self, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
        """Describe the fault of a value as the end of a sentence that starts with the setting's name; None if valid."""
        if value is None and self.default is None:
            return None
        if self.values is None:
            kinds, text = (bool, "true or false") if self.kind is bool else ((str, Path), "a text")
            return None if isinstance(value, kinds) else f"must be {text}"
        return self.values.fault(value)

    def value_of(self, plain: Any) -> Any:  # noqa: ANN401 - of the setting's type
        """Convert a value of TOML, which has no paths and may write 1 for 1.0, to the setting's type."""
        if isinstance(self.values, FloatRange):
            return float(plain)
        return Path(plain) if self.kind is Path else plain

    def read(self, word: str) -> Any:  # noqa: ANN401 - of the setting's type
        """Parse the text of an environment variable; return the text itself if it is no such value."""
        if self.kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}.get(word.lower(), word)
        try:
            return self.values.read(word) if self.values else word
        except ValueError:
            return word


def setting(
    default: Any,  # noqa: ANN401 - the value of any field
    help: str,
    *,
    group: str,
    flag: str | None = None,
    values: Values | None = None,
    metavar: str | None = None,
) -> Any:  # noqa: ANN401 - stands where dataclasses.field does
    """Declare a dataclass field as a setting; the arguments are those of ``Setting``."""
    return field(default=default, metadata={_KEY: (help, group, flag, values, metavar)})


def settings_of(config: type[Any]) -> Iterator[Setting]:
    """Yield the settings of a dataclass, in the order of its fields; fields without ``setting`` are left out."""
    for each in dataclasses.fields(config):
        if _KEY in each.metadata:
            help, group, flag, values, metavar = each.metadata[_KEY]
            types = get_args(each.type) or (each.type,)
            kind = next((kind for kind in (bool, Path) if kind in types), str)
            if get_origin(each.type) is Literal:
                values = OneOf(types)
            is_number = isinstance(values, (IntRange, FloatRange))
            metavar = metavar or ("N" if is_number else "DIR" if kind is Path else "NAME")
            yield Setting(each.name, each.default, help, group, flag or _flag(each.name), kind, values, metavar)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _by_name(config: type[Any]) -> dict[str, Setting]:
    """Settings of a dataclass by field and by flag, with underscores or dashes, as ``learning_rate`` and ``lr``."""
    names = ((each, flag.lstrip("-")) for each in settings_of(config) for flag in (_flag(each.name), each.flag))
    return {name: each for each, dashed in names for name in (dashed.replace("-", "_"), dashed)}


def check_settings(config: Any) -> None:  # noqa: ANN401 - any dataclass of settings
    """Raise UsageError with one sentence about the first setting whose value is invalid."""
    for each in settings_of(type(config)):
        if fault := each.fault(value := getattr(config, each.name)):
            raise UsageError(f"{each.name} {fault}, got {value!r}.")


def named_settings(
    config: type[Any], values: Mapping[str, Any], source: str, where: str = ""
) -> list[tuple[Setting, Any]]:
    """Pair values, keyed by any name of a setting, with settings; raises UsageError for unknown or repeated names."""
    known, found = _by_name(config), dict[str, tuple[Setting, Any]]()
    for key, value in values.items():
        if key not in known:
            names = ", ".join(each.name for each in settings_of(config))
            raise UsageError(f"{source} has an unknown key {unknown(key, known)}{where}: there are {names}.")
        if known[key].name in found:
            raise UsageError(f"{source} gives {known[key].name}{where} twice, as {key} too: leave one out.")
        found[known[key].name] = known[key], value
    return [*found.values()]


def validate_values(config: type[Any], values: Mapping[str, Any], source: str, section: str = "") -> dict[str, Any]:
    """Check and convert values of a dataclass's settings; raises UsageError, naming ``source``, for the first fault."""
    where = f" in [{section}]" if section else ""
    named = named_settings(config, values, source, where)
    for each, value in named:
        if fault := each.fault(value):
            raise UsageError(f"{source}: {each.name}{where} {fault}, got {value!r:.60}.")
    return {each.name: each.value_of(value) for each, value in named}


def saved_settings(config: type[Any], values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Check and return the settings among the values in a run's file; other values are left out.

    Raises UsageError, naming the file, for the first value that has the wrong type or is not allowed.
    """
    found = [each for each in settings_of(config) if each.name in values]
    for each in found:
        if fault := each.fault(values[each.name]):
            value = quoted(values[each.name])
            raise UsageError(f"{path} keeps {value} as {each.name}, which {fault}: give another file.")
    return {each.name: values[each.name] for each in found}


def read_settings(file: Path, missing: str | None = None) -> dict[str, Any]:
    """Read the tables of a TOML file; raises as ``rlparity.io.safe_read.refused`` does."""
    with refused(file, "file of settings", missing, "fix it or move it away"):
        return read_toml(file)


def from_file(config: type[Any], file: Path | None) -> dict[str, Any]:
    """Read settings of a dataclass from a TOML file, by name; empty without a file.

    Raises UsageError for a file that cannot be read, an unknown name or an invalid value.
    """
    return validate_values(config, read_settings(file, "name a TOML file"), str(file)) if file else {}


def from_environment(
    sections: Mapping[str, type[Any]], environ: Mapping[str, str], prefix: str, short: Mapping[str, tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """Read settings, by section and name, from environment variables such as ``PREFIX_SECTION_NAME``.

    ``short`` maps variables of other names to section and name of their setting; they override the long variables.
    Raises UsageError for an unknown variable that begins with the prefix, and for an invalid value.
    """
    known = {
        f"{prefix}{section}_{name}".upper(): (section, each)
        for section, config in sections.items()
        for name, each in _by_name(config).items()
    }
    known |= {variable: known[f"{prefix}{section}_{name}".upper()] for variable, (section, name) in short.items()}
    layer: dict[str, dict[str, Any]] = {}
    for variable in sorted(filter(lambda name: name.startswith(prefix), environ), key=lambda name: name in short):
        if variable not in known:
            raise UsageError(
                f"The environment has an unknown variable {unknown(variable, known)}: give {' or '.join(short)}, or "
                f"{prefix}SECTION_KEY as in {next(iter(known))}."
            )
        section, each = known[variable]
        value = each.read(environ[variable])
        if fault := each.fault(value):
            raise UsageError(f"{variable} {fault}, got {environ[variable]!r:.60}.")
        layer.setdefault(section, {})[each.name] = value
    return layer


def add_flags(parser: argparse.ArgumentParser, *configs: type[Any]) -> None:
    """Add a flag for every setting; its value is None if it is not given, as ``given`` expects."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for each in (each for config in configs for each in settings_of(config)):
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        add_flag(groups[each.group], each, each.name, each.flag)


def add_flag(group: argparse._ActionsContainer, each: Setting, dest: str, *flags: str, note: str = "") -> None:
    """Add a flag for a setting, named by ``flags`` and its field; ``note`` follows the default in its help."""
    names, help = dict.fromkeys([*flags, _flag(each.name)]), each.help
    if each.kind is bool:
        action = argparse.BooleanOptionalAction if each.default else "store_true"
        group.add_argument(*names, dest=dest, action=action, default=None, help=help)
        return
    default = "" if each.default_text == NO_DEFAULT else f"default {each.default_text}{note}"
    if notes := "; ".join(filter(None, (each.values.span() if each.values else "", default))):
        help = f"{help} ({notes})"
    group.add_argument(*names, dest=dest, type=each.values or each.kind, metavar=each.metavar, help=help)


def given(arguments: argparse.Namespace, config: type[Any]) -> dict[str, Any]:
    """Settings that are given on the command line, by name."""
    values = {each.name: getattr(arguments, each.name) for each in settings_of(config)}
    return {name: value for name, value in values.items() if value is not None}


def from_flags(arguments: argparse.Namespace, config: type[Config]) -> Config:
    """Build the settings from the command line and the defaults; raises UsageError for an invalid value."""
    settings = config(**given(arguments, config))
    check_settings(settings)
    return settings


def as_flags(config: type[Any], values: Mapping[str, Any]) -> str:
    """Format the settings of a dataclass among ``values`` as flags of a command line."""
    named = [(each.flag, values[each.name]) for each in settings_of(config) if each.name in values]
    return " ".join(f"{flag} {value:,}" if isinstance(value, int) else f"{flag} {value}" for flag, value in named)
