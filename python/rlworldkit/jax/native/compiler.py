"""Compiles translated programs for the processor."""

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax

from rlparity.errors import UsageError
from rlworldkit.jax import program_cache
from rlworldkit.jax.switches import holding
from rlworldkit.jax.xla import C_FLAGS_VARIABLE

TARGET = "rlworldkit_native"
"""XLA's custom call that plays games, and its name in C; its attribute ``program`` is the name of a program."""
_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_LEVEL, _LEVEL_OF_LARGE, _LARGE = "-O2", "-O1", 100_000
"""Of optimisation; and of sources of more characters, whose numerous variables take GCC twice as long with the other,
and then play slower."""
_FLAGS = "-x c -std=gnu11 -fPIC -shared -w -fwrapv -fno-strict-aliasing -fvisibility=hidden -ffp-contract=off"
_PROGRAM, _CALL = (Path(__file__).with_name(name) for name in ("cpu.c", "ffi.c"))
_EXECUTOR = ThreadPoolExecutor(2)
_own_folder = cache(tempfile.TemporaryDirectory[str])
_programs: dict[str, Future[ctypes.CDLL]] = {}
"""Programs by name, which can be played as soon as they are done."""
_deferred: ContextVar[set[str] | None] = ContextVar("deferred", default=None)


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
        _register_call()
    except UsageError as error:
        return str(error)
    return None


def source_of(game: str, program: Path = _PROGRAM) -> str:
    """A program with a translated game in it, by default that for the processor."""
    arithmetic = program.with_name("arithmetic.h").read_text()
    return program.read_text().replace('#include "arithmetic.h"', arithmetic).replace('#include "game.h"', game)


def name_of(source: str) -> str:
    """The name of a program, which is that of its function in C."""
    return f"native_{hashlib.sha256(source.encode()).hexdigest()[:32]}"


def start(source: str) -> str:
    """Begin to compile a program that will be needed; returns its name."""
    name = name_of(source)
    if name not in _programs:
        _register_call()
        _programs[name] = _EXECUTOR.submit(_library, source, _cached(name))
    return name


@contextmanager
def deferred() -> Iterator[set[str]]:
    """In this thread lower programs before they are compiled, as a context; it gives their sources to ``wait`` for."""
    sources = set[str]()
    with holding(_deferred, sources):
        yield sources


def build(source: str) -> str:
    """Have a program compiled, unless it is ``deferred``; returns its name. Raises UsageError where that fails."""
    name, later = start(source), _deferred.get()
    if later is None:
        wait(source)
    else:
        later.add(source)
    return name


def wait(source: str) -> None:
    """Wait until a program can be played; raises UsageError where it cannot be compiled."""
    _programs[start(source)].result()


@cache
def _register_call() -> None:
    """Have XLA know its custom call; raises UsageError where that cannot be compiled."""
    source = _CALL.read_text()
    call = getattr(_library(source, _cached(name_of(source))), TARGET)
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(call), platform="cpu")


def _cached(name: str) -> Path | None:
    """Where a program is cached that was compiled here."""
    return program_cache.path_of(f"{_machine()}_{name}")


@cache
def _machine() -> str:
    """A digest of what a compiled program depends on besides its source."""
    macros = _run(*(command() or ()), "-dM", "-E", "-")  # which tell the compiler's version and what the processor has
    return hashlib.sha256(f"{command()} {version('jaxlib')} {macros.stdout}".encode()).hexdigest()[:16]


def _library(source: str, path: Path | None) -> ctypes.CDLL:
    """Load a program, compiled unless ``path`` has it; without a cache it lies in a folder that goes with the process.

    The functions of all libraries are found by their names.
    """
    if program_cache.read(path) is None:
        content = _compiled(source)
        if not program_cache.write(path, content):
            path = Path(_own_folder().name, name_of(source))
            path.write_bytes(content)
    return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


def _compiled(source: str) -> bytes:
    words = command(_LEVEL_OF_LARGE if len(source) > _LARGE else _LEVEL) or ()
    with tempfile.TemporaryDirectory() as place:
        library = Path(place, "play.so")
        words = *words, f"-DPROGRAM={name_of(source)}", f"-I{jax.ffi.include_dir()}", "-o", str(library), "-", "-lm"
        made = _run(*words, given=source)
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise UsageError(f"{made.args[0]} does not compile the engine ({reason}): name another in CC")
        return library.read_bytes()


def _run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=given, capture_output=True, text=True, check=False)
