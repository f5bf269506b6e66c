"""Places of engines: ``NAME@PLACE`` is the engine NAME of a world, played by a process of its own.

``tape:DIR`` is what an engine gave once, see ``parity.tape``. Places are:

- ``rev:COMMIT``: as a commit of the checkout has it. It is exported into the cache folder, which registers no git
  worktree; an engine whose ``MutationBench`` has a ``build`` is built there, once for each state of its source.
- ``python:FILE``: in that interpreter, which has parity and the world among its packages.
- ``pip:REQUIREMENT``: with another version of one package, such as ``jax==0.11.1``, in a virtual environment in the
  cache folder that has all else from this process.
- ``cpu``, ``cuda``: with JAX on that device. On ``cpu`` no library finds a GPU; on ``cuda`` torch chooses its device as
  it does without a place.

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
import venv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path

import parity
from parity.adapters import named
from parity.adapters.named import is_named
from parity.errors import ParityError, UsageError
from parity.remote import RemoteFactory
from parity.tape import TAPE, open_tape
from parity.world import GROUP, EngineFactory, MutationBench, World

PLACE = "@"
_DEVICES = {
    "cpu": {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""},
    # two processes share the device: neither may take most of its memory in advance
    "cuda": {"JAX_PLATFORMS": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
}


def with_remote_engines(world: World, spec: str, names: Iterable[str]) -> World:
    """The world with an engine more for each of ``names`` that is a tape or has a place.

    What an engine needs is exported and built here. A tape's prices are the world's from then on.

    ``spec``: what ``--world`` calls the world. Raises UsageError for a place that does not exist, EngineError for one
    that does not build.
    """
    remote: dict[str, EngineFactory] = {}
    for name in names:
        if name.startswith(TAPE):
            world, remote[name] = open_tape(world, Path(name.removeprefix(TAPE)))
        elif PLACE in name and name not in world.engines:
            remote[name] = _remote(world, spec, name)
    return replace(world, engines={**world.engines, **remote}) if remote else world


def environments(names: Iterable[str]) -> World:
    """The world of environments by their names, which may have places (``parity.adapters.named``)."""
    return named.shared_world({name: _elsewhere(name) if PLACE in name else named.environment(name) for name in names})


def _elsewhere(name: str) -> World:
    factory = _remote(named.environments_world({}, (), ()), name, name)
    try:
        return replace(named.described_world(factory.describe()), engines={name: factory})
    except ParityError as error:
        raise type(error)(f"{name}: {error}") from error


def python_environment(variables: Mapping[str, str], paths: Iterable[Path] = ()) -> dict[str, str]:
    """All environment variables of a Python process in which some are others, such as one on a changed copy of code.

    It looks for modules in the PYTHONPATH of ``variables``, then in ``paths``, beside this harness and in the
    PYTHONPATH of this process.
    """
    first, last = variables.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")
    searched = filter(None, [first, *map(str, paths), str(Path(parity.__file__).resolve().parents[1]), last])
    return {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(searched)}


def world_home(spec: str) -> Path:
    """The folder of the module that registers the world of this name or ``module:attribute``."""
    if is_named(spec):
        return Path.cwd()
    module = spec if ":" in spec else entry_points(group=GROUP)[spec].value
    return Path(importlib.import_module(module.partition(":")[0]).__file__ or "").resolve().parent


def checkout_of(spec: str) -> Path:
    """The root of the git checkout that the world's module, or else the working directory, is in.

    Raises UsageError where that is in none.
    """
    home = world_home(spec)
    folder = Path.cwd() if _is_installed(home) else home
    if not any((each / ".git").exists() for each in (folder, *folder.parents)):
        raise UsageError(
            f"{folder} is in no git checkout, which has revisions: run this in one, or give pip:REQUIREMENT."
        )
    return Path(_git(folder, "rev-parse", "--show-toplevel"))


def commit_of(checkout: Path, revision: str) -> str:
    """The commit that a revision of the checkout means, in 40 hexadecimal digits; raises UsageError for none."""
    words = "git", "-C", checkout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
    return _output(f"there is no revision '{revision}' in {checkout}: name a commit, branch or tag of it", *words)


def is_dirty(checkout: Path) -> bool:
    """Tell whether files of the checkout differ from its commit, or are not in it."""
    return bool(_git(checkout, "status", "--porcelain"))


def _remote(world: World, spec: str, name: str) -> RemoteFactory:
    engine, _, place = name.partition(PLACE)
    kind, _, argument = place.partition(":")
    here = RemoteFactory(world, engine if is_named(engine) else spec, engine, {**os.environ, "PYTHONPATH": ""})
    if place in _DEVICES:
        return replace(here, environment=python_environment(_DEVICES[place], _search_path()))
    if kind not in _KINDS or not argument:
        known = ", ".join([*(f"{kind}:..." for kind in _KINDS), *_DEVICES])
        raise UsageError(f"engine '{name}' has no place that is known: give {known} after the {PLACE}.")
    return _KINDS[kind](here, argument)


def _at_revision(here: RemoteFactory, revision: str) -> RemoteFactory:
    checkout = checkout_of(here.spec)
    commit = commit_of(checkout, revision)
    if _is_installed(world_home(here.spec)) and not any(_is_code(path, checkout) for path in _search_path()):
        raise UsageError(
            f"world '{here.spec}' is installed, and no revision of {checkout} changes that: install the checkout "
            "itself (pip install --editable), or give pip:REQUIREMENT."
        )
    export = _cached("revisions", commit, lambda folder: _export(checkout, commit, folder))
    benches = (bench for bench in here.world.benches if bench.engine == here.engine and bench.build is not None)
    variables = next((bench.environment(_built(bench, checkout, commit)) for bench in benches), {})

    def moved(path: Path) -> Path:
        return export / path.relative_to(checkout) if _is_code(path, checkout) else path

    folder = moved(Path.cwd())
    environment = python_environment(variables, map(moved, _search_path()))
    return replace(here, environment=environment, folder=folder if folder.is_dir() else export, home=export)


def _built(bench: MutationBench, checkout: Path, commit: str) -> Path:
    """The bench's source as a commit has it, built; raises EngineError when it does not compile."""
    tree = _git(checkout, "rev-parse", f"{commit}:./{bench.source.resolve().relative_to(checkout)}")

    def make(folder: Path) -> None:
        _export(checkout, tree, folder)
        assert bench.build is not None
        bench.build(folder)

    return _cached("builds", tree, make)


def _in_interpreter(here: RemoteFactory, file: str) -> RemoteFactory:
    if (python := shutil.which(os.path.expanduser(file))) is None:
        raise UsageError(f"there is no interpreter {file}: name a Python in which parity and the world are installed.")
    return replace(here, python=os.path.abspath(python))


def _with_requirement(here: RemoteFactory, requirement: str) -> RemoteFactory:
    paths = "\n".join(map(str, _search_path()))

    def install(folder: Path) -> None:
        venv.create(folder, symlinks=True)
        next(folder.glob("lib/python*/site-packages")).joinpath("parity.pth").write_text(paths)
        pip = folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"
        _output(f"{requirement} cannot be installed", *pip, "--no-input", "--", requirement, env=here.environment)

    key = hashlib.sha256("\n".join([requirement, sys.version, paths]).encode()).hexdigest()[:20]
    return replace(here, python=str(_cached("environments", key, install) / "bin" / "python"))


_KINDS: dict[str, Callable[[RemoteFactory, str], RemoteFactory]] = {
    "rev": _at_revision,
    "python": _in_interpreter,
    "pip": _with_requirement,
}


def cache_folder() -> Path:
    """The folder of what is kept from one command to the next; raises RuntimeError where the user has no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "parity").absolute()


def _cached(kind: str, key: str, make: Callable[[Path], object]) -> Path:
    """A folder of the cache, which ``make`` fills under another name first: there is never half of it."""
    try:
        parent = cache_folder() / kind
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
    except (OSError, RuntimeError) as error:
        raise UsageError(f"the cache folder cannot be used ({error}): name another one in XDG_CACHE_HOME.") from error
    return folder


def _export(checkout: Path, tree: str, folder: Path) -> None:
    """Write the files of a commit or tree into a folder; raises UsageError where it has none."""
    if not _git(checkout, "ls-tree", tree):
        raise UsageError(f"{tree} in {checkout} has no files: name another revision.")
    archive = folder.with_name("tree.tar")
    _git(checkout, "archive", "--format=tar", f"--output={archive}", tree)
    shutil.unpack_archive(archive, folder, filter="tar")


def _search_path() -> list[Path]:
    """Where this process looks for modules."""
    return [Path(path).resolve() for path in sys.path]


def _is_code(path: Path, checkout: Path) -> bool:
    return path.is_relative_to(checkout) and not _is_installed(path)


def _is_installed(path: Path) -> bool:
    return any(path.is_relative_to(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix))


def _git(folder: Path, *words: str) -> str:
    return _output(f"git {' '.join(words)} fails in {folder}", "git", "-C", folder, *words)


def _output(fault: str, *command: str | Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; raises UsageError with the last line of its errors where it fails, or is not there."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace", check=False)
    except FileNotFoundError:
        raise UsageError(f"there is no {command[0]} on the PATH: install it.") from None
    if done.returncode != 0:
        raise UsageError(f"{': '.join([fault, *done.stderr.strip().splitlines()[-1:]]).rstrip('.')}.")
    return done.stdout.strip()
