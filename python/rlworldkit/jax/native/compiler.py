"""What compiles translated programs for the processor, and the cache of what programs became on any device."""

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax

from rlparity.errors import UsageError
from rlparity.io.safe_read import GIB, Unreadable, read_bytes
from rlworldkit.jax.switches import cache_folder, holding
from rlworldkit.jax.xla import C_FLAGS_VARIABLE, write_fault

FOLDER = "native"
"""Beside JAX's compiled programs."""
TARGET = "rlworldkit_native"
"""XLA's custom call that plays games; its attribute ``program`` begins with the ``key_of`` a program."""
_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_LEVEL, _LEVEL_OF_LARGE, _LARGE = "-O2", "-O1", 100_000
"""Of optimisation; and of sources of more characters, whose numerous variables take GCC twice as long with the other,
and then play slower."""
_FLAGS = "-x c -std=gnu11 -fPIC -shared -w -fwrapv -fno-strict-aliasing -fvisibility=hidden -ffp-contract=off"
_DIGEST_BYTES = 32
_PROGRAM, _CALL = (Path(__file__).with_name(name) for name in ("cpu.c", "ffi.c"))
_EXECUTOR = ThreadPoolExecutor(2)
_own_folder = cache(tempfile.TemporaryDirectory[str])
_programs: dict[str, Future[None]] = {}
"""Programs by name, which can be played as soon as they are done."""
_is_deferred: ContextVar[bool] = ContextVar("is_deferred", default=False)


@cache
def command(level: str = _LEVEL) -> tuple[str, ...] | None:
    """The command that compiles: that of CC or CXX, or one that is found; None where there is none."""
    named = os.environ.get("CC") or os.environ.get("CXX")
    candidates = [shlex.split(named)] if named else [[name] for name in _COMPILERS]
    words = next((words for words in candidates if words and shutil.which(words[0])), None)
    if words is None:
        return None
    more = shlex.split(os.environ.get(C_FLAGS_VARIABLE, ""))
    return (*words, *_FLAGS.split(), level, *(["-march=native"] if sys.platform == "linux" else []), *more)


@cache
def fault() -> str | None:
    """Why programs cannot be compiled and played here, as the beginning of a sentence; None where they can."""
    if command() is None:
        return "no C compiler is found: install one, name it in CC"
    try:
        _call()
    except UsageError as error:
        return str(error)
    return None


def source_of(game: str, program: Path = _PROGRAM) -> str:
    """A program with a translated game in it, by default that for the processor."""
    arithmetic = program.with_name("arithmetic.h").read_text()
    return program.read_text().replace('#include "arithmetic.h"', arithmetic).replace('#include "game.h"', game)


def name_of(source: str) -> str:
    """The name of a program on this machine, by which a compiled one is found again."""
    return f"{_prefix()}{hashlib.sha256(source.encode()).hexdigest()[:16]}"


@cache
def _prefix() -> str:
    """Of names: a digest of what a compiled program depends on besides its source."""
    macros = _run(*(command() or ()), "-dM", "-E", "-")  # which tell the compiler's version and what the processor has
    key = f"{command()} {version('jaxlib')} {macros.stdout}"
    return f"native_{hashlib.sha256(key.encode()).hexdigest()[:16]}_"


def key_of(name: str) -> int:
    """The number by which XLA's call finds a program."""
    return int(hashlib.sha256(name.encode()).hexdigest()[:15], 16)


def start(source: str) -> str:
    """Begin to compile a program that will be needed; returns its name."""
    name, folder = name_of(source), cache_folder()
    if name not in _programs:
        _call()
        _programs[name] = _EXECUTOR.submit(lambda: _add(name, cached(name, folder, lambda: _compiled(source))))
    return name


def deferred() -> AbstractContextManager[None]:
    """In this thread lower programs before they are compiled, as a context; ``wait`` before they are called."""
    return holding(_is_deferred, True)


def build(source: str) -> str:
    """Have a program compiled, unless it is ``deferred``; returns its name. Raises UsageError where that fails."""
    name = start(source)
    if not _is_deferred.get():
        wait(name)
    return name


def wait(name: str) -> None:
    """Wait until a program can be played; raises UsageError where it cannot be compiled."""
    try:
        _programs[name].result()
    except UsageError:
        del _programs[name]
        raise


def load(name: str) -> bool:
    """Load a program of the cache by its name; False where there is none that is whole and of this machine."""
    folder = cache_folder()
    path = folder and command() and name.startswith(_prefix()) and folder / FOLDER / name
    if name not in _programs and path and is_whole(path):
        _programs[name] = _EXECUTOR.submit(_add, name, path)
        wait(name)
    return name in _programs


def _add(name: str, path: Path) -> None:
    _call().add(ctypes.c_int64(key_of(name)), ctypes.CDLL(str(path)).play)


@cache
def _call() -> ctypes.CDLL:
    """XLA's custom call, compiled and known to XLA; raises UsageError where it cannot be compiled."""
    source = _CALL.read_text()
    name = name_of(source)
    library = ctypes.CDLL(str(cached(name, cache_folder(), lambda: _compiled(source))))
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(library.call), platform="cpu")
    return library


def cached(name: str, folder: Path | None, make: Callable[[], bytes]) -> Path:
    """The file of this name, which ``make`` gives unless the cache in ``folder`` has a whole one.

    It ends with its digest. Without a cache that can be written, it lies in a folder that goes with the process.
    """
    path = folder and folder / FOLDER / name
    if path and is_whole(path):
        return path
    content = make()
    if path is None or write_fault(path.parent):
        path = Path(_own_folder().name) / name
    with tempfile.TemporaryDirectory(dir=path.parent) as place:  # others may be writing the same
        unfinished = Path(place, name)
        unfinished.write_bytes(content + hashlib.sha256(content).digest())
        unfinished.replace(path)
    return path


def content_of(path: Path) -> bytes:
    """What ``make`` of ``cached`` gave."""
    return path.read_bytes()[:-_DIGEST_BYTES]


def is_whole(path: Path) -> bool:
    """Whether a file of the cache is what was written."""
    try:
        content = read_bytes(path, GIB)
    except (FileNotFoundError, Unreadable):
        return False
    return hashlib.sha256(content[:-_DIGEST_BYTES]).digest() == content[-_DIGEST_BYTES:]


def _compiled(source: str) -> bytes:
    words = command(_LEVEL_OF_LARGE if len(source) > _LARGE else _LEVEL) or ()
    with tempfile.TemporaryDirectory() as place:
        library = Path(place, "play.so")
        made = _run(*words, f"-I{jax.ffi.include_dir()}", "-o", str(library), "-", "-lm", given=source)
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise UsageError(f"{made.args[0]} does not compile the engine ({reason}): name another in CC")
        return library.read_bytes()


def _run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=given, capture_output=True, text=True, check=False)
