"""Places of engines: ``NAME@PLACE`` is the engine NAME of a world, played by a process of its own.

``tape:DIR`` replays the recorded answers of an engine, see ``rlparity.engines.tape``. Places are:

- ``rev:COMMIT``: at a commit of the repository of the working directory. Its files, with those of submodules that are
  checked out, are written into the cache folder as git checks them out, which registers no git worktree; an engine
  whose ``MutationBench`` has a ``build`` is built there, once for each state of its source.
- ``python:FILE``: in that interpreter, in which rlparity and the world are installed.
- ``pip:REQUIREMENT``: with another version of one package, such as ``jax==0.11.1``, in a virtual environment in the
  cache folder that takes all other packages from this process.
- ``cpu``, ``cuda``: with JAX on that device. On ``cpu`` no library finds a GPU; on ``cuda`` torch chooses its device as
  it does without a place.

The cache folder is ``rlparity`` in $XDG_CACHE_HOME or ~/.cache; it may be deleted at any time.
"""

import fcntl
import hashlib
import os
import shutil
import sys
import venv
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from rlparity.adapters import named
from rlparity.adapters.named import is_named
from rlparity.engines.checkout import check_out, commit_of, key_of, output, outside_hooks, trees_of
from rlparity.engines.module_paths import (
    announced,
    checkout_of,
    is_code,
    is_installed,
    locations,
    search_path,
    world_home,
)
from rlparity.engines.python_process import execution_fault, python_environment
from rlparity.engines.remote import RemoteFactory
from rlparity.engines.tape import TAPE, open_tape
from rlparity.errors import ParityError, UsageError
from rlparity.mutant import MutationBench
from rlparity.world import PLACE, EngineFactory, World

_DEVICES = {
    "cpu": {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""},
    # two processes share the device: neither may take most of its memory in advance
    "cuda": {"JAX_PLATFORMS": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
}


def with_remote_engines(world: World, spec: str, names: Iterable[str]) -> World:
    """Add an engine to the world for each of ``names`` that is a tape or has a place.

    Exports and builds what these engines need. The prices of a tape become those of the returned world.

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
    """World of environments with these names, which may have places (``rlparity.adapters.named``)."""
    return named.shared_world({name: _elsewhere(name) if PLACE in name else named.environment(name) for name in names})


def _elsewhere(name: str) -> World:
    factory = _remote(named.environments_world({}, (), ()), name, name)
    try:
        return replace(named.described_world(factory.describe()), engines={name: factory})
    except ParityError as error:
        raise type(error)(f"{name}: {error}") from error


def _remote(world: World, spec: str, name: str) -> RemoteFactory:
    engine, _, place = name.partition(PLACE)
    kind, _, argument = place.partition(":")
    here = RemoteFactory(
        world, engine if is_named(engine) else spec, engine, {**outside_hooks(os.environ), "PYTHONPATH": ""}
    )
    if place in _DEVICES:
        return replace(here, environment=python_environment(_DEVICES[place], search_path()))
    if kind not in _KINDS or not argument:
        known = ", ".join([*(f"{kind}:..." for kind in _KINDS), *_DEVICES])
        raise UsageError(f"engine '{name}' has an unknown place: give {known} after the {PLACE}.")
    return _KINDS[kind](here, argument)


def _at_revision(here: RemoteFactory, revision: str) -> RemoteFactory:
    checkout, searched = checkout_of(here.spec), search_path()
    if checkout is None:
        raise UsageError(
            f"{Path.cwd()} is in no git checkout: run this in one to compare revisions, or give pip:REQUIREMENT."
        )
    commit = commit_of(checkout, revision)
    if is_installed(world_home(here.spec)) and not any(is_code(path, checkout) for path in searched):
        raise UsageError(
            f"world '{here.spec}' is installed, and no revision of {checkout} changes that: install the checkout "
            "itself (pip install --editable), or give pip:REQUIREMENT."
        )
    for name in sorted(announced()):
        for path in locations(name):
            if path.name.partition(".")[0] != name and is_code(path.resolve(), checkout):
                raise UsageError(
                    f"package '{name}' is imported from {path}, and Python finds no revision of it under another name: "
                    f"call its folder {name}."
                )
    trees = trees_of(checkout, commit)
    export = _cached("checkouts", key_of(trees), lambda folder: check_out(trees, folder))
    benches = (bench for bench in here.world.benches if bench.engine == here.engine and bench.build is not None)
    variables = next((bench.environment(_built(bench, export, checkout)) for bench in benches), {})

    def moved(path: Path) -> Path:
        return export / path.relative_to(checkout) if is_code(path, checkout) else path

    folder = moved(Path.cwd())
    environment = python_environment(variables, map(moved, searched))
    return replace(here, environment=environment, folder=folder if folder.is_dir() else export, home=export)


def _built(bench: MutationBench, export: Path, checkout: Path) -> Path:
    """Build the bench's source as exported, and return its folder; raises EngineError where it does not compile."""
    original = bench.source.resolve()
    source = export / original.relative_to(checkout) if original.is_relative_to(checkout) else original
    if not (source.is_relative_to(export) and source.is_dir()):
        raise UsageError(f"engine '{bench.engine}' is built from {original}, which that revision lacks: name another.")
    digest = hashlib.sha256()
    for path in sorted(source.rglob("*")):
        content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        digest.update(os.fsencode(path.relative_to(source)) + b"\0%o\0%d\0" % (path.lstat().st_mode, len(content)))
        digest.update(content)

    def make(folder: Path) -> None:
        shutil.copytree(source, folder, symlinks=True, dirs_exist_ok=True)
        assert bench.build is not None
        bench.build(folder)

    return _cached("builds", digest.hexdigest()[:40], make)


def _in_interpreter(here: RemoteFactory, file: str) -> RemoteFactory:
    if (python := shutil.which(os.path.expanduser(file))) is None:
        if fault := execution_fault(Path(file).expanduser()):
            raise UsageError(f"{fault}.")
        raise UsageError(
            f"there is no interpreter {file}: name a Python in which rlparity and the world are installed."
        )
    return replace(here, python=os.path.abspath(python))


def _with_requirement(here: RemoteFactory, requirement: str) -> RemoteFactory:
    paths = "\n".join(map(str, search_path()))

    def install(folder: Path) -> None:
        venv.create(folder, symlinks=True)
        next(folder.glob("lib/python*/site-packages")).joinpath("rlparity.pth").write_text(paths)
        pip = folder / "bin" / "python", "-P", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"
        output(f"{requirement} cannot be installed", *pip, "--no-input", "--", requirement, env=here.environment)

    key = hashlib.sha256("\n".join([requirement, sys.version, paths]).encode()).hexdigest()[:20]
    return replace(here, python=str(_cached("environments", key, install) / "bin" / "python"))


_KINDS: dict[str, Callable[[RemoteFactory, str], RemoteFactory]] = {
    "rev": _at_revision,
    "python": _in_interpreter,
    "pip": _with_requirement,
}


def cache_folder() -> Path:
    """Cache folder, which persists between commands; raises RuntimeError where the user has no home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rlparity").absolute()


def _cached(kind: str, key: str, make: Callable[[Path], object]) -> Path:
    """Folder of the cache; ``make`` fills a new one under a temporary name, so that the folder is never incomplete."""
    try:
        parent = cache_folder() / kind
        folder, part = parent / key, parent / "part"
        parent.mkdir(parents=True, exist_ok=True)
        with open(parent / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.rmtree(part, ignore_errors=True)  # left by a killed process
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
