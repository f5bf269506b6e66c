"""``rlparity init``: a world of two small engines, its tests and its CI job, for a project to begin with."""

from __future__ import annotations

from argparse import Namespace
from importlib.resources import files

from rlparity.errors import UsageError
from rlparity.io.atomic_write import write_text

FILES = {"climb.py": "climb.py", "project.toml": "pyproject.toml", "workflow.yml": ".github/workflows/rlparity.yml"}
"""Template -> where it goes."""


def init(options: Namespace) -> int:
    """Write a world of two small engines, its tests and its CI job, to begin with.

    `python -m pytest` in the folder compares the two engines. Then put your own in their place.

    Examples:
        rlparity init my-port
    """
    paths = {options.folder / name: files("rlparity.templates").joinpath(template) for template, name in FILES.items()}
    if there := [path for path in paths if path.exists() or path.is_symlink()]:
        raise UsageError(f"{there[0]} is there already, and nothing was written: name another folder.")
    for path, template in paths.items():
        write_text(path, template.read_text(encoding="utf-8"))
    print(f"Wrote {', '.join(map(str, paths))}. Run `python -m pytest` there.")
    return 0
