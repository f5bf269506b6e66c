"""Programs for the CPU: one game after another, compiled by a C compiler and called from inside jitted programs."""

import ctypes
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

import jax
import numpy as np
from jax import Array
from jax.extend.core import ClosedJaxpr

from rlparity.errors import UsageError
from rlworldkit.jax import program_cache
from rlworldkit.jax.native.program import translate
from rlworldkit.jax.switches import holding
from rlworldkit.jax.xla import C_FLAGS_VARIABLE

TARGET = "rlworldkit_native"
"""Name of XLA's custom call that plays games, and of its C function; the attribute ``program`` names a program."""
_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_LEVEL, _LEVEL_OF_LARGE, _LARGE = "-O2", "-O1", 100_000
"""Level of optimisation, and that of sources of more than ``_LARGE`` characters: at -O2 their many variables take GCC
twice as long, and they play slower."""
_FLAGS = "-x c -std=gnu11 -fPIC -shared -w -fwrapv -fno-strict-aliasing -fvisibility=hidden -ffp-contract=off"
_PROGRAM, _CALL = (Path(__file__).with_name(name) for name in ("cpu.c", "ffi.c"))
_EXECUTOR = ThreadPoolExecutor(2)
_own_folder = cache(tempfile.TemporaryDirectory[str])
_deferred: ContextVar[set[str] | None] = ContextVar("deferred", default=None)


@cache
def command(level: str = _LEVEL) -> tuple[str, ...] | None:
    """Return the compiler's command: from CC or CXX, or the first compiler found; None if there is none."""
    named = os.environ.get("CC") or os.environ.get("CXX")
    candidates = [shlex.split(named)] if named else [[name] for name in _COMPILERS]
    words = next((words for words in candidates if words and shutil.which(words[0])), None)
    if words is None:
        return None
    more = shlex.split(os.environ.get(C_FLAGS_VARIABLE, ""))
    return (*words, *_FLAGS.split(), level, *(["-march=native"] if sys.platform == "linux" else []), *more)


@cache
def fault() -> str | None:
    """Return why programs cannot be compiled here, as the beginning of a sentence; None if they can."""
    if command() is None:
        return "no C compiler is found: install one, name it in CC"
    try:
        _register_call()
    except UsageError as error:
        return str(error)
    return None


def source_of(game: str, program: Path = _PROGRAM) -> str:
    """Insert a translated game into a program, by default the one for the CPU."""
    arithmetic = program.with_name("arithmetic.h").read_text()
    return program.read_text().replace('#include "arithmetic.h"', arithmetic).replace('#include "game.h"', game)


@lru_cache(maxsize=64)
def program_of(closed: ClosedJaxpr) -> str:
    """Translate the jaxpr of one game, and start compiling it; returns the source. Raises Untranslatable."""
    source = source_of(translate(closed))
    start(source)
    return source


@cache
def start(source: str) -> Future[ctypes.CDLL]:
    """Start compiling a program in the background; its future has the loaded program, or raises UsageError."""
    _register_call()
    return _EXECUTOR.submit(_library, source, _cached(source))


@contextmanager
def deferred() -> Iterator[set[str]]:
    """Context in which ``call`` does not wait for compilation; yields the set of sources that are being compiled."""
    sources = set[str]()
    with holding(_deferred, sources):
        yield sources


def call(closed: ClosedJaxpr, outputs: tuple[int, ...], aliases: Mapping[int, int], *args: Array) -> Sequence[Array]:
    """Run a function of one game on all games inside a jitted program; takes and returns what ``cuda.call`` does.

    Raises UsageError if the program cannot be compiled, for which it waits outside ``deferred``.
    """
    source, later = program_of(closed), _deferred.get()
    if later is None:
        start(source).result()
    else:
        later.add(source)
    leaves = [closed.out_avals[place] for place in outputs]
    results = [jax.ShapeDtypeStruct((len(args[-1]), *leaf.shape), leaf.dtype) for leaf in leaves]
    numbers = [outputs.index(place) if place in outputs else -1 for place in range(len(closed.out_avals))]
    launch = jax.ffi.ffi_call(TARGET, results, input_output_aliases=dict(aliases))
    return launch(*args, program=_name_of(source), results=np.array(numbers, np.int64))


def _name_of(source: str) -> str:
    """Return the name of a program, which is also the name of its C function."""
    return f"native_{hashlib.sha256(source.encode()).hexdigest()[:32]}"


@cache
def _register_call() -> None:
    """Compile and register XLA's custom call; raises UsageError if it cannot be compiled."""
    source = _CALL.read_text()
    call = getattr(_library(source, _cached(source)), TARGET)
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(call), platform="cpu")


def _cached(source: str) -> Path | None:
    """Return the cache path for a program compiled on this machine; None without a cache."""
    return program_cache.path_of(f"{_machine()}_{_name_of(source)}")


@cache
def _machine() -> str:
    """Return a digest of everything that a compiled program depends on besides its source."""
    macros = _run(*(command() or ()), "-dM", "-E", "-")  # they show the compiler's version and the CPU's features
    return hashlib.sha256(f"{command()} {version('jaxlib')} {macros.stdout}".encode()).hexdigest()[:16]


def _library(source: str, path: Path | None) -> ctypes.CDLL:
    """Load a program, compiled unless ``path`` has it; without a cache it goes to a temporary folder of the process.

    It is loaded globally, so that XLA's custom call finds the function by its name.
    """
    if program_cache.read(path) is None:
        content = _compiled(source)
        if not program_cache.write(path, content):
            path = Path(_own_folder().name, _name_of(source))
            path.write_bytes(content)
    return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


def _compiled(source: str) -> bytes:
    words = command(_LEVEL_OF_LARGE if len(source) > _LARGE else _LEVEL) or ()
    with tempfile.TemporaryDirectory() as place:
        library = Path(place, "play.so")
        words = *words, f"-DPROGRAM={_name_of(source)}", f"-I{jax.ffi.include_dir()}", "-o", str(library), "-", "-lm"
        made = _run(*words, given=source)
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise UsageError(f"{made.args[0]} cannot compile the engine ({reason}): name another in CC")
        return library.read_bytes()


def _run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=given, capture_output=True, text=True, check=False)
