"""Places of engines: ``NAME@PLACE`` is the engine NAME of a world, run in a process of its own.

- ``rev:COMMIT``: as that commit of the checkout has it. The commit is exported into the cache folder, so that no git
  worktree is registered, and an engine whose ``MutationBench`` has a ``build`` is built there, once for each state of
  its source.
- ``python:FILE``: in that interpreter, with the packages installed there, parity and the world among them.
- ``pip:REQUIREMENT``: with one other package, such as ``jax==0.11.1``, in a virtual environment in the cache folder
  that has everything else from this process.
- ``cpu``, ``cuda``: in this environment, with JAX on that device. With ``cpu``, no library finds a GPU; with ``cuda``,
  torch worlds choose their device as they do without a place.

The cache folder is ``parity`` in $XDG_CACHE_HOME or ~/.cache; it may be deleted at any time.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib
import os
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import parity
from parity.errors import EngineError, UsageError
from parity.remote import RemoteFactory
from parity.world import GROUP, MutationBench, World

PLACE = "@"
_DEVICES = {
    "cpu": {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""},
    # two processes share the device: neither may take most of its memory in advance
    "cuda": {"JAX_PLATFORMS": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
}
_HARNESS = Path(parity.__file__).resolve().parent.parent


def with_remote_engines(world: World, spec: str, names: Iterable[str]) -> World:
    """The world with an engine more for each of ``names`` that has a place; what it needs is exported and built here.

    ``spec``: what ``--world`` calls the world. Raises UsageError for a place that does not exist, EngineError for one
    that does not build or install.
    """
    remote = {name: _remote(world, spec, name) for name in names if PLACE in name}
    return replace(world, engines={**world.engines, **remote}) if remote else world


def python_environment(variables: Mapping[str, str], paths: Iterable[str | Path] = ()) -> dict[str, str]:
    """All environment variables of a Python process that runs a changed copy of something, or has some changed.

    It looks for modules in the PYTHONPATH of ``variables`` first, then in ``paths``, beside this harness and in the
    PYTHONPATH of this process.
    """
    first, last = variables.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")
    searched = os.pathsep.join(filter(None, [first, *map(str, paths), str(_HARNESS), last]))
    return {**os.environ, **variables, "PYTHONPATH": searched}


def world_home(spec: str) -> Path:
    """The folder of the module that registers the world of this name or ``module:attribute``."""
    named = spec if ":" in spec else entry_points(group=GROUP)[spec].value
    return Path(importlib.import_module(named.partition(":")[0]).__file__ or "").resolve().parent


def checkout_of(spec: str) -> Path:
    """The root of the git checkout of the world's module, or where that is installed, of the working directory."""
    home = world_home(spec)
    return Path(_output("git", "-C", Path.cwd() if _is_installed(home) else home, "rev-parse", "--show-toplevel"))


def commit_of(checkout: Path, revision: str) -> str:
    """The commit that a revision of the checkout means, in 40 hexadecimal digits; raises UsageError for none."""
    try:
        return _output("git", "-C", checkout, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
    except EngineError:
        raise UsageError(f"there is no revision '{revision}' in {checkout}: name a commit, branch or tag.") from None


def is_dirty(checkout: Path) -> bool:
    """Tell whether files of the checkout differ from its commit, or are not in it."""
    return bool(_output("git", "-C", checkout, "status", "--porcelain"))


def _remote(world: World, spec: str, name: str) -> RemoteFactory:
    engine, _, place = name.partition(PLACE)
    kind, _, argument = place.partition(":")
    here = RemoteFactory(world, spec, engine)
    if place in _DEVICES:
        return replace(here, environment=python_environment(_DEVICES[place], _search_path()))
    if kind not in _KINDS or not argument:
        known = ", ".join([*(f"{kind}:..." for kind in _KINDS), *_DEVICES])
        raise UsageError(f"engine '{name}' has no place that is known: give {known} after the {PLACE}.")
    return _KINDS[kind](here, argument)


def _at_revision(here: RemoteFactory, revision: str) -> RemoteFactory:
    checkout = checkout_of(here.spec)
    commit = commit_of(checkout, revision)
    export = _cached("revisions", commit, lambda folder: _export(checkout, commit, folder))
    variables: Mapping[str, str] = {}
    for bench in here.world.benches:
        if bench.engine == here.engine and bench.build is not None:
            variables = bench.environment(_built(bench, checkout, commit))
    paths = [path if _is_installed(path) else _moved(path, checkout, export) for path in _search_path()]
    there = _moved(Path.cwd(), checkout, export)
    folder = there if there.is_dir() else export
    return replace(here, environment=python_environment(variables, paths), folder=folder, home=export)


def _built(bench: MutationBench, checkout: Path, commit: str) -> Path:
    """The bench's source as a commit has it, built; raises EngineError when it does not compile."""
    source = bench.source.resolve().relative_to(checkout)
    tree = _output("git", "-C", checkout, "rev-parse", f"{commit}:./{source}")

    def make(folder: Path) -> None:
        _export(checkout, tree, folder)
        assert bench.build is not None
        bench.build(folder)

    return _cached("builds", tree, make)


def _in_interpreter(here: RemoteFactory, file: str) -> RemoteFactory:
    if (python := shutil.which(file)) is None:
        raise UsageError(f"there is no interpreter {file}: name a Python in which parity and the world are installed.")
    return replace(here, python=os.path.abspath(python), environment=_without_pythonpath())


def _with_requirement(here: RemoteFactory, requirement: str) -> RemoteFactory:
    paths = "\n".join(map(str, [*_search_path(), _HARNESS]))

    def install(folder: Path) -> None:
        venv.create(folder, symlinks=True)
        next(folder.glob("lib/python*/site-packages")).joinpath("parity.pth").write_text(paths)
        pip = folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"
        _output(*pip, "--no-input", "--", requirement, env=_without_pythonpath())

    key = hashlib.sha256("\n".join([requirement, sys.version, paths]).encode()).hexdigest()[:20]
    folder = _cached("environments", key, install)
    return replace(here, python=str(folder / "bin" / "python"), environment=_without_pythonpath())


_KINDS: dict[str, Callable[[RemoteFactory, str], RemoteFactory]] = {
    "rev": _at_revision,
    "python": _in_interpreter,
    "pip": _with_requirement,
}


def _cached(kind: str, key: str, make: Callable[[Path], object]) -> Path:
    """A folder of the cache, which ``make`` fills under another name first: there is never half of it."""
    parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "parity", kind).absolute()
    folder, part = parent / key, parent / "part"
    parent.mkdir(parents=True, exist_ok=True)
    with open(parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
        if not folder.is_dir():
            (part / key).mkdir(parents=True)
            try:
                make(part / key)
                (part / key).rename(folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return folder


def _export(checkout: Path, tree: str, folder: Path) -> None:
    """Write the files of a commit or tree into a folder."""
    command = "git", "-C", str(checkout), "archive", "--format=tar", tree
    with subprocess.Popen(command, stdout=subprocess.PIPE) as git, tarfile.open(fileobj=git.stdout, mode="r|") as tar:
        tar.extractall(folder, filter="tar")


def _search_path() -> list[Path]:
    """Where this process looks for modules."""
    return [Path(path).resolve() for path in sys.path]


def _is_installed(path: Path) -> bool:
    return any(path.is_relative_to(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix))


def _moved(path: Path, checkout: Path, export: Path) -> Path:
    return export / path.relative_to(checkout) if path.is_relative_to(checkout) else path


def _without_pythonpath() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def _output(*command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; raises EngineError with its last line where it fails, UsageError where there is none."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise UsageError(f"there is no {command[0]} on the PATH: install it.") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise EngineError(f"`{' '.join(map(str, command))}` failed: {last}")
    return done.stdout.strip()
