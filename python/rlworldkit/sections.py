"""Settings in sections, from TOML files, environment variables and flags; later sources override earlier ones."""

import argparse
import contextlib
import dataclasses
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from rlparity.errors import UsageError, unknown
from rlworldkit.settings import (
    Setting,
    add_flag,
    check_settings,
    from_environment,
    read_settings,
    settings_of,
    validate_values,
)

Layer = Mapping[str, Mapping[str, Any]]
"""Some of a configuration's values, by section and key."""


@dataclasses.dataclass(frozen=True)
class Sections:
    """Configuration whose fields are sections, which are dataclasses of settings with defaults."""

    @classmethod
    def sections(cls) -> dict[str, type[Any]]:
        """Classes of the sections, by name."""
        return {each.name: type(each.default) for each in dataclasses.fields(cls)}

    @classmethod
    def layered(
        cls,
        files: Sequence[Path],
        environ: Mapping[str, str],
        prefix: str,
        short: Mapping[str, tuple[str, str]],
        flags: Layer,
    ) -> Self:
        """Build the configuration from existing files, variables ``PREFIX_SECTION_KEY`` or ``short`` ones, and flags.

        Raises UsageError, which names the source, if a file cannot be read, or a name or value is invalid.
        """
        config = cls()
        for file in files:
            with contextlib.suppress(FileNotFoundError):
                config = config.over(read_settings(file), str(file))
        config = config.over(from_environment(cls.sections(), environ, prefix, short), "The environment")
        return config.over(flags, "The command line")

    def over(self, layer: Layer, source: str) -> Self:
        """Override values with those of a layer; raises UsageError, which names ``source``, for the first fault."""
        known, changed = self.sections(), {}
        for name, values in layer.items():
            if name not in known:
                raise UsageError(
                    f"{source} has an unknown section {unknown(name, known)}: there are {', '.join(known)}."
                )
            if not isinstance(values, Mapping):
                raise UsageError(
                    f"{source} gives {name} as a value, but it is a section: write [{name}] above its keys."
                )
            checked = validate_values(known[name], values, source, name)
            changed[name] = dataclasses.replace(getattr(self, name), **checked)
        return dataclasses.replace(self, **changed)

    def validated(self) -> Self:
        """Return this configuration, or raise UsageError with one sentence about its first fault."""
        for name in self.sections():
            check_settings(getattr(self, name))
        return self

    def plain(self) -> dict[str, dict[str, Any]]:
        """Values by section and key, for files; None values and empty sections are left out."""
        sections = dataclasses.asdict(self).items()
        plain = {name: {key: value for key, value in values.items() if value is not None} for name, values in sections}
        return {name: values for name, values in plain.items() if values}

    @classmethod
    def as_toml(cls, heading: str) -> str:
        """Format a TOML file of every setting with its default and its meaning, below a heading."""
        lines = [f"# {heading}\n"]
        for name, section in cls.sections().items():
            meaning = textwrap.wrap(f"# {' '.join((section.__doc__ or '').split())}", 119, subsequent_indent="# ")
            lines += [f"[{name}]", *meaning]
            rows = [(_row(each), each) for each in settings_of(section)]
            width = max(len(row) for row, _ in rows)
            lines += [f"{row:{width}}  # {each.help}" for row, each in rows]
            lines.append("")
        return "\n".join(lines)


def _row(each: Setting) -> str:
    return f"# {each.name} =" if each.default is None else f"{each.name} = {json.dumps(each.default)}"


def add_setting(
    group: argparse._ActionsContainer, config: type[Sections], section: str, key: str, *flags: str, note: str = ""
) -> None:
    """Add the flag of a setting, which overrides files and environment; ``flags``: names to use instead of its own."""
    each = next(each for each in settings_of(config.sections()[section]) if each.name == key)
    add_flag(group, each, f"{section}.{key}", *flags or (each.flag,), note=note)


def flags_given(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Settings given on the command line through ``add_setting`` flags, by section and key."""
    layer: dict[str, dict[str, Any]] = {}
    for name, value in vars(arguments).items():
        section, dot, key = name.partition(".")
        if dot and value is not None:
            layer.setdefault(section, {})[key] = value
    return layer
