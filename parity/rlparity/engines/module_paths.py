"""Import locations of worlds' modules, and whether they lie in the repository of the working directory."""

import importlib
import os
import shlex
import sys
from collections.abc import Iterator
from importlib.metadata import distributions, entry_points
from importlib.util import find_spec
from pathlib import Path

from rlparity.adapters.named import is_named
from rlparity.engines.checkout import repository_of
from rlparity.errors import UsageError, blamed
from rlparity.world import GROUP, PLACE


def world_home(spec: str) -> Path:
    """Folder of the module that registers the world of this name or ``module:attribute``."""
    module = module_of(spec)
    return _file(module).parent if module else Path.cwd()


def module_of(spec: str) -> str:
    """Name of a world's module; empty for an environment of a library, unless its name has an importable module."""
    if is_named(spec):
        _, *module, _ = spec.partition(",")[0].partition(PLACE)[0].split(":")
        return next((name for name in module if locations(name.partition(".")[0])), "")
    return (spec if ":" in spec else entry_points(group=GROUP)[spec].value).partition(":")[0]


def _file(module: str) -> Path:
    with blamed(f"importing {module}"):
        return Path(importlib.import_module(module).__file__ or "").resolve()


def own_copy(module: str, file: Path) -> Path | None:
    """Find the copy of a module in the repository of the working directory, where ``file`` lies in another; else None.

    It is searched by the last parts of the path of ``file``, the fewest first.
    """
    here = repository_of(Path.cwd())
    if here is None or here == repository_of(file.parent):
        return None
    least = module.count(".") + 1 + (file.name == "__init__.py")
    copies = (here.joinpath(*file.parts[-count:]) for count in range(least, len(file.parts)))
    return next((copy for copy in copies if copy.is_file() and not copy.samefile(file)), None)


def require_own_world(spec: str, module: str, *, or_installed: bool = True) -> None:
    """Raise UsageError where the repository of the working directory has the world, but another copy is imported.

    ``module``: the world's module. ``or_installed``: accept a copy that is installed other than by an editable install.
    """
    if not module:
        return
    file = _file(module)
    if (or_installed and is_installed(file)) or (copy := own_copy(module, file)) is None:
        return
    depth = module.count(".") + (file.name == "__init__.py")
    there, here = file, copy
    while there != there.parent and there.name == here.name:
        there, here = there.parent, here.parent
    others = (here / path.relative_to(there) for path in search_path() if is_code(path, there))
    paths = os.pathsep.join(dict.fromkeys(map(str, [copy.parents[depth], *filter(Path.is_dir, others)])))
    raise UsageError(
        f"world '{spec}' is imported from {file.parent}, but the repository of the working directory has it in "
        f"{copy.parent}: put PYTHONPATH={shlex.quote(paths)} before the command, or go to the first folder."
    )


def checkout_of(spec: str) -> Path | None:
    """Root of the git checkout that the world comes from; None where it comes from none.

    It is the checkout of the working directory or, where that is in none, the world's own. Raises UsageError where the
    world is imported from another checkout than that of the working directory.
    """
    home, here = world_home(spec), repository_of(Path.cwd())
    if is_installed(home):
        return here
    if here is None:
        return repository_of(home)
    if not home.is_relative_to(here):
        raise UsageError(
            f"world '{spec}' is imported from {home}, but revisions and . are those of {here}, where this runs: go to "
            "the world's repository, or give its other version as pip:REQUIREMENT or python:FILE."
        )
    return here


def search_path() -> list[Path]:
    """Folders in which this process finds modules, also through import hooks of editable installs."""
    return [*dict.fromkeys([*(Path(path).resolve() for path in sys.path), *map(Path.resolve, _hooked_folders())])]


def _hooked_folders() -> Iterator[Path]:
    """Yield the folders of imported modules and of those that editable installs announce, whatever hook finds them."""
    for name in {*announced(), *sys.modules} - {"__main__"}:
        for path in locations(name) if "." not in name else ():
            if path.name.partition(".")[0] == name:
                yield path.parent


def announced() -> set[str]:
    """Names of the modules and packages of editable installs."""
    editable = (each for each in distributions() if '"editable": true' in (each.read_text("direct_url.json") or ""))
    return {name for each in editable for name in (each.read_text("top_level.txt") or "").split()}


def locations(module: str) -> list[Path]:
    """Files or folders from which a top-level module or package is imported."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):  # a module that was made without a file
        return []
    if spec is None:
        return []
    file = [spec.origin] if spec.origin is not None and spec.has_location else []
    return [Path(place) for place in spec.submodule_search_locations or file]


def is_code(path: Path, checkout: Path) -> bool:
    """Tell whether a file or folder lies in a checkout, but not in a virtual environment there."""
    return path.is_relative_to(checkout) and not is_installed(path)


def is_installed(path: Path) -> bool:
    """Tell whether a file or folder belongs to installed packages, and so to no checkout."""
    return bool({"site-packages", "dist-packages"} & {*path.parts}) or any(
        path.is_relative_to(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix)
    )
