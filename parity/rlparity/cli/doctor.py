"""``rlparity doctor``: check the installation and suggest fixes. Doctors of worlds print with the same functions."""

import contextlib
import os
import platform
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from rlparity import __version__
from rlparity.engines.checkout import output
from rlparity.engines.module_paths import own_copy
from rlparity.engines.places import cache_folder
from rlparity.engines.registry import load_world, registered
from rlparity.errors import ParityError, UsageError, install_command
from rlparity.io.console import Answer, counted, open_console
from rlparity.io.safe_read import MIB, Unreadable, read_text
from rlparity.tools.documents import Check, DoctorDocument
from rlparity.tools.project import DISTRIBUTION, PROJECT, REQUIRE_PLUGIN, read_checks, read_tables

OK: Final = "ok"
NOTE: Final = "note"
BROKEN: Final = "broken"
"""Statuses of a check; a note is about something optional that is missing."""
_STYLES = {OK: "green", NOTE: "yellow", BROKEN: "bold red"}
_LIBRARIES = ("gymnasium", "gymnax", "pgx", "jumanji", "envpool", "jaxmarl", "pettingzoo", "dm_env")
"""Distributions whose environments ``--engines`` can name."""


def doctor(options: Namespace) -> Answer | int:
    """Check the installation and suggest fixes.

    It checks packages, registered worlds, libraries of environments, git and the cache folder. A note does not count
    as broken.

    Examples:
        rlparity doctor
    """
    return _answer([*_checks()]) if options.json else print_checks(_checks(), as_json=False)


def print_checks(checks: Iterable[Check], *, as_json: bool) -> int:
    """Print a line for each check, or one JSON object; return the exit code: 1 where a check is broken, else 0."""
    from rich.text import Text

    console, done = open_console(quiet=as_json), []
    for check in checks:
        done.append(check)
        result = f"{check.name:19}{'; '.join(filter(None, (check.found, check.remedy)))}"
        console.print(Text.assemble((f"{check.status:8}", _STYLES[check.status]), result), soft_wrap=True)
    answer = _answer(done)
    answer.print(as_json=as_json)
    return answer.exit_code


def _answer(done: Sequence[Check]) -> Answer:
    """Make the Answer of checks whose lines are already printed."""
    is_broken = any(check.status == BROKEN for check in done)
    return Answer(DoctorDocument(not is_broken, done), lambda _: None, int(is_broken))


def python() -> Check:
    """Report the version and path of the interpreter."""
    return Check("Python", OK, f"{platform.python_version()} ({sys.executable})")


def packages(distribution: str, names: Iterable[str], title: str, folder: Path, *, remedy: str) -> Check:
    """Check the requirements of a distribution, without its extras: list their versions, or those that do not fit.

    Args:
        distribution: its name for pip.
        names: import names of its packages, which no other distribution may have.
        title: its name and version, and further details to show.
        folder: the folder of its code.
        remedy: the command that reinstalls it.
    """
    title = f"{title}, in {folder}"
    try:
        needed = [*_needed(distribution)]
    except metadata.PackageNotFoundError:
        return Check("packages", NOTE, f"{title}, run from its folder without being installed", f"run `{remedy}`")
    if faults := [*filter(None, map(_fault, needed)), *_rivals(distribution, names)]:
        return Check("packages", BROKEN, "; ".join([title, *faults]), f"run `{remedy}`")
    found = ", ".join([title, *versions(map(_name, needed))])
    if (copy := own_copy(folder.name, folder / "__init__.py")) is not None:
        return Check("packages", NOTE, found, f"the repository of the working directory has another in {copy.parent}")
    return Check("packages", OK, found)


def versions(distributions: Iterable[str]) -> list[str]:
    """List name and version of each distribution that is installed."""
    found = []
    for name in distributions:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found.append(f"{name} {metadata.version(name)}")
    return found


def _needed(distribution: str, extra: str = "") -> Iterator[str]:
    """Yield the requirements of a distribution, or of its extra, and of the extras that they name in turn."""
    for text in metadata.requires(distribution) or ():
        requirement, _, marker = text.partition(";")
        if marker.rpartition("extra ==")[2].strip(" '\"") != extra if "extra ==" in marker else extra:
            continue
        yield requirement if extra else text
        if "[" in requirement:
            with contextlib.suppress(metadata.PackageNotFoundError):
                yield from _needed(_name(requirement), requirement.partition("[")[2].partition("]")[0])


def _rivals(distribution: str, names: Iterable[str]) -> Iterator[str]:
    """Yield a fault for each other distribution with a package of the same name: pip overwrites one with the other."""
    for other in metadata.distributions():
        files = f"\n{other.read_text('RECORD') or ''}" if other.name != distribution else ""
        for name in names:
            if f"\n{name}/__init__.py," in files:
                yield f"{other.name} has a package {name} too: uninstall it first"


def _name(requirement: str) -> str:
    """Distribution name of a requirement such as ``numpy>=2.0``."""
    return requirement.translate(str.maketrans("<>=!~[(", "       ")).split()[0]


def _fault(requirement: str) -> str | None:
    """Describe why a requirement is not met, else None; versions are only checked if ``packaging`` is installed."""
    name = _name(requirement)
    version = next((found.split()[1] for found in versions([name])), None)
    try:
        from packaging.requirements import Requirement
    except ModuleNotFoundError:
        return None if version else f"{name} is missing"
    needed = Requirement(requirement)
    is_needed = needed.marker is None or needed.marker.evaluate({"extra": ""})
    if not is_needed or (version and needed.specifier.contains(version, prereleases=True)):
        return None
    return f"{name} {version or 'is missing'} (needed: {needed.specifier or 'any'})"


def _checks() -> Iterator[Check]:
    yield python()
    home = Path(__file__).resolve().parents[2]
    is_checkout = (home / "pyproject.toml").is_file()
    again = install_command("--editable", str(home)) if is_checkout else install_command("rl-parity")
    yield packages("rl-parity", ("rlparity",), f"rl-parity {__version__}", home, remedy=again)
    names = sorted(registered())
    if not names:
        yield Check("worlds", NOTE, "no installed package registers one", "`rlparity init FOLDER` writes one")
    yield from map(_world, names)
    found = versions(_LIBRARIES)
    missing = [name for name in _LIBRARIES if name not in {each.split()[0] for each in found}]
    note = f"not installed: {', '.join(missing)}" if missing else ""
    yield Check("environments", OK if found else NOTE, "; ".join(filter(None, (", ".join(found), note))))
    yield _pytest_plugin()
    yield from _project(Path.cwd())
    yield _git()
    yield _cache()


def _world(name: str) -> Check:
    try:
        world = load_world(name)
    except ParityError as error:
        return Check("world", BROKEN, str(error).rstrip("."))
    return Check("world", OK, f"{name} (engines {', '.join(world.engines)})")


def _pytest_plugin() -> Check:
    """Check whether pytest loads the plugin."""
    name = "pytest plugin"
    if not (pytest := versions(["pytest"])):
        return Check(name, NOTE, "pytest is not installed", install_command("pytest"))
    points = ((dist.name, point) for dist in metadata.distributions() for point in dist.entry_points)
    dists = {dist for dist, point in points if (point.group, point.name) == ("pytest11", "rlparity")}
    if others := sorted(dists - {DISTRIBUTION}):
        return Check(name, BROKEN, f"{others[0]} has a plugin of the same name, and only one is loaded", "uninstall it")
    if DISTRIBUTION not in dists:
        return Check(name, NOTE, f"{DISTRIBUTION} is not installed", "give pytest -p rlparity.pytest_plugin")
    for variable in ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_ADDOPTS"):
        value = os.environ.get(variable, "")
        if value and (variable != "PYTEST_ADDOPTS" or re.search(r"-p ?no:rlparity|--disable-plugin-autoload", value)):
            return Check(name, BROKEN, f"{variable}={value} keeps pytest from loading it", f"unset {variable}")
    return Check(name, OK, f"{pytest[0]} loads it")


def _project(folder: Path) -> Iterator[Check]:
    """Check the comparisons that the project in a folder declares, and whether its pytest settings need the plugin."""
    try:
        tables = read_tables(folder / PROJECT)
        checks = read_checks(tables or {})
    except UsageError as error:
        yield Check("project", BROKEN, str(error).rstrip("."))
        return
    if tables:
        found = f"{folder / PROJECT} declares {counted(len(checks), 'comparison')}"
        yield Check("project", *((OK, found) if _requires_plugin(folder) else (NOTE, found, REQUIRE_PLUGIN)))


def _requires_plugin(folder: Path) -> bool:
    """Whether the first pytest settings file with ``required_plugins`` lists the plugin."""
    with contextlib.suppress(OSError, Unreadable):
        for name in ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", PROJECT, "tox.ini", "setup.cfg"):
            if (folder / name).is_file() and "required_plugins" in (text := read_text(folder / name, MIB)):
                return DISTRIBUTION in text.partition("required_plugins")[2]
    return False


def _git() -> Check:
    try:
        return Check("git", OK, output("git fails", "git", "--version"))
    except UsageError:
        return Check("git", NOTE, "there is none on the PATH that runs", "install it to compare revisions")


def _cache() -> Check:
    try:
        folder = cache_folder()
        there = next(each for each in (folder, *folder.parents) if each.exists())
    except RuntimeError as error:  # the user has no home folder
        return Check("cache", BROKEN, str(error).rstrip("."), "name a folder in XDG_CACHE_HOME")
    if not (there.is_dir() and os.access(there, os.W_OK | os.X_OK)):
        return Check("cache", BROKEN, f"{folder} cannot be written to", "name another folder in XDG_CACHE_HOME")
    return Check("cache", OK, f"{folder} can be written to")
