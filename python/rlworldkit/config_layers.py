"""Settings from TOML files and environment variables, as layers under the flags of a command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlparity.errors import UsageError, unknown
from rlparity.io.arguments import FloatRange
from rlparity.io.safe_read import Unreadable, read_toml
from rlworldkit.settings import Setting, fault_of, settings_by_name, settings_of

_FLAGS = {"true": True, "1": True, "false": False, "0": False}


def read_settings(file: Path) -> dict[str, Any]:
    """The tables of a TOML file; raises FileNotFoundError where there is none, and UsageError that names the file."""
    try:
        return read_toml(file)
    except Unreadable as fault:
        raise UsageError(f"{file} cannot be read: {fault}; fix it or move it away.") from None


def from_file(config: type[Any], file: Path | None) -> dict[str, Any]:
    """The settings of a dataclass that a TOML file gives by their names; none without a file.

    Raises UsageError for a file that cannot be read, an unknown name or an impossible value.
    """
    if file is None:
        return {}
    try:
        values = read_settings(file)
    except FileNotFoundError:
        raise UsageError(f"There is no {file}: name a TOML file of settings.") from None
    return validate_values(config, values, str(file))


def validate_values(config: type[Any], values: Mapping[str, Any], source: str, section: str = "") -> dict[str, Any]:
    """Values for settings of a dataclass; raises UsageError that names ``source`` for the first fault."""
    where = f" in [{section}]" if section else ""
    named = named_settings(config, values, source, where)
    for each, value in named:
        if fault := fault_of(each, value):
            raise UsageError(f"{source}: {each.name}{where} {fault}, got {value!r:.60}.")
    return {each.name: _of_kind(each, value) for each, value in named}


def named_settings(
    config: type[Any], values: Mapping[str, Any], source: str, where: str = ""
) -> list[tuple[Setting, Any]]:
    """The settings that values are for, by any of their names; raises UsageError for an unknown one, or for two."""
    known, found = settings_by_name(config), dict[str, tuple[Setting, Any]]()
    for key, value in values.items():
        if key not in known:
            names = ", ".join(each.name for each in settings_of(config))
            raise UsageError(f"{source} has an unknown key {unknown(key, known)}{where}: there are {names}.")
        if known[key].name in found:
            raise UsageError(f"{source} gives {known[key].name}{where} twice, as {key} too: leave one out.")
        found[known[key].name] = known[key], value
    return [*found.values()]


def _of_kind(each: Setting, value: Any) -> Any:  # noqa: ANN401 - of the setting's type
    """A value of TOML, which knows no paths and writes 1 for 1.0, as the setting's."""
    if isinstance(each.values, FloatRange):
        return float(value)
    return Path(value) if each.kind is Path else value


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
        for name, each in settings_by_name(config).items()
    }
    for variable, (section, name) in short.items():
        known[variable] = (section, known[f"{prefix}{section}_{name}".upper()][1])
    layer: dict[str, dict[str, Any]] = {}
    for variable in sorted(environ, key=lambda name: name in short):
        if not variable.startswith(prefix):
            continue
        if variable not in known:
            raise UsageError(
                f"The environment has an unknown variable {unknown(variable, known)}: give {' or '.join(short)}, or "
                f"{prefix}SECTION_KEY as in {next(iter(known))}."
            )
        section, each = known[variable]
        value = _value_of(each, environ[variable])
        if fault := fault_of(each, value):
            raise UsageError(f"{variable} {fault}, got {environ[variable]!r:.60}.")
        layer.setdefault(section, {})[each.name] = value
    return layer


def _value_of(each: Setting, word: str) -> Any:  # noqa: ANN401 - of the setting's type
    """The value that a word stands for, or the word itself where it stands for none."""
    if each.kind is bool:
        return _FLAGS.get(word.lower(), word)
    try:
        return each.values.read(word) if each.values else word
    except ValueError:
        return word
