"""A setting in one place: a dataclass field that knows its default, check, flag, help and row in the documents.

Its value comes from a flag, a TOML file, an environment variable or the file of a run, and is checked alike.
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

    help: its meaning. group: the heading under which ``--help`` lists it. flag: its flag, from the name unless given.
    kind: ``bool`` (a flag without a value, which turns it on), ``Path`` or ``str``, as the field's annotation says.
    values: those it may have, wherever they come from; every number has them, and a ``Literal`` says them itself.
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
        """The fault of a value, as the end of a sentence that begins with the setting's name; None: nothing."""
        if value is None and self.default is None:
            return None
        if self.values is None:
            kinds, text = (bool, "true or false") if self.kind is bool else ((str, Path), "a text")
            return None if isinstance(value, kinds) else f"must be {text}"
        if isinstance(value, bool) and self.values.fault(value) is None:
            return "must be a number, not true or false"
        return self.values.fault(value)

    def value_of(self, plain: Any) -> Any:  # noqa: ANN401 - of the setting's type
        """The setting's value for one of TOML, which knows no paths and writes 1 for 1.0."""
        if isinstance(self.values, FloatRange):
            return float(plain)
        return Path(plain) if self.kind is Path else plain

    def read(self, word: str) -> Any:  # noqa: ANN401 - of the setting's type
        """The value that a word of the environment stands for, or the word itself where it stands for none."""
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
    """A dataclass field that is a setting; the arguments are those of ``Setting``."""
    return field(default=default, metadata={_KEY: (help, group, flag, values, metavar)})


def settings_of(config: type[Any]) -> Iterator[Setting]:
    """The settings of a dataclass, in the order of its fields; fields without ``setting`` are left out."""
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
    """The settings of a dataclass by every name, that of the flag too: ``learning_rate`` and ``lr``; or with dashes."""
    names = ((each, flag.lstrip("-")) for each in settings_of(config) for flag in (_flag(each.name), each.flag))
    return {name: each for each, dashed in names for name in (dashed.replace("-", "_"), dashed)}


def check_settings(config: Any) -> None:  # noqa: ANN401 - any dataclass of settings
    """Raises UsageError with one sentence about the first setting whose value is impossible."""
    for each in settings_of(type(config)):
        if fault := each.fault(value := getattr(config, each.name)):
            raise UsageError(f"{each.name} {fault}, got {value!r}.")


def named_settings(
    config: type[Any], values: Mapping[str, Any], source: str, where: str = ""
) -> list[tuple[Setting, Any]]:
    """The settings that values are for, by any of their names; raises UsageError for an unknown one, or for two."""
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
    """Values for settings of a dataclass; raises UsageError that names ``source`` for the first fault."""
    where = f" in [{section}]" if section else ""
    named = named_settings(config, values, source, where)
    for each, value in named:
        if fault := each.fault(value):
            raise UsageError(f"{source}: {each.name}{where} {fault}, got {value!r:.60}.")
    return {each.name: each.value_of(value) for each, value in named}


def saved_settings(config: type[Any], values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings among the values that a file of a run keeps; others are left out.

    Raises UsageError, naming the file, for the first that is of another type than its setting, or impossible.
    """
    found = [each for each in settings_of(config) if each.name in values]
    for each in found:
        if fault := each.fault(values[each.name]):
            value = quoted(values[each.name])
            raise UsageError(f"{path} keeps {value} as {each.name}, which {fault}: give another file.")
    return {each.name: values[each.name] for each in found}


def read_settings(file: Path, missing: str | None = None) -> dict[str, Any]:
    """The tables of a TOML file; raises as ``rlparity.io.safe_read.refused`` does."""
    with refused(file, "file of settings", missing, "fix it or move it away"):
        return read_toml(file)


def from_file(config: type[Any], file: Path | None) -> dict[str, Any]:
    """The settings of a dataclass that a TOML file gives by their names; none without a file.

    Raises UsageError for a file that cannot be read, an unknown name or an impossible value.
    """
    return validate_values(config, read_settings(file, "name a TOML file"), str(file)) if file else {}


def from_environment(
    sections: Mapping[str, type[Any]], environ: Mapping[str, str], prefix: str, short: Mapping[str, tuple[str, str]]
) -> dict[str, dict[str, Any]]:
    """The settings by section and name that variables such as ``PREFIX_SECTION_NAME`` give.

    ``short`` are variables of another name, which override those: the section and the name of their setting.
    Raises UsageError for an unknown variable that begins with the prefix, and for an impossible value.
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
    """A flag for every setting; one that is not given is None, so that ``given`` can tell."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for each in (each for config in configs for each in settings_of(config)):
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        add_flag(groups[each.group], each, each.name, each.flag)


def add_flag(group: argparse._ActionsContainer, each: Setting, dest: str, *flags: str, note: str = "") -> None:
    """A flag for a setting, with that of its name in files last; ``note``: what its help says besides."""
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
