"""``rlparity init``: a world of two small engines, its tests and its CI job, for a project to begin with."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import files

from rlparity.errors import UsageError
from rlparity.io.atomic_write import write_text

PROJECT = {"project.toml": "pyproject.toml", "workflow.yml": ".github/workflows/rlparity.yml"}
"""Template -> where it goes."""
SHORT = ("__init__", "exploration", "plain", "planes", "rules", "world")
FULL = (*SHORT, "__main__", "env", "in_jax", "score", "show")
"""Modules of the world: of the harness alone, and with all that rlworldkit trains, evaluates and shows."""
_ONLY_FULL = "  # full"
"""Ends lines of templates that only the full world has."""


def init(options: Namespace) -> int:
    """Write a world of two small engines, its tests and its CI job, to begin with.

    `python -m pytest` in the folder compares the two engines. Then put your own in their place.

    Examples:
        rlparity init my-port
        rlparity init --full my-world
    """
    templates = files("rlparity.templates")
    texts = {name: templates.joinpath(template) for template, name in PROJECT.items()}
    modules = [f"orchard/{module}.py" for module in (FULL if options.full else SHORT)]
    texts |= {name: templates.joinpath(name) for name in (*modules, "orchard/rules.md")}
    texts |= {f"orchard/golden/{each.name}": each for each in templates.joinpath("orchard/golden").iterdir()}
    paths = {options.folder / name: text.read_text(encoding="utf-8") for name, text in texts.items()}
    if there := [path for path in paths if path.exists() or path.is_symlink()]:
        raise UsageError(f"{there[0]} is there already, and nothing was written: name another folder.")
    for path, text in paths.items():
        lines = text.splitlines()
        kept = [line.removesuffix(_ONLY_FULL) for line in lines if options.full or not line.endswith(_ONLY_FULL)]
        write_text(path, "\n".join(kept) + "\n")
    world = options.folder / "orchard" / "world.py"
    print(f"Wrote {world} and {len(paths) - 1} more files. Run `python -m pytest` there.")
    return 0
