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
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp

from rlparity.errors import UsageError
from rlparity.io.safe_read import GIB, Unreadable, read_bytes
from rlworldkit.jax.native.program import traced, translate
from rlworldkit.jax.switches import cache_folder
from rlworldkit.jax.xla import C_FLAGS_VARIABLE, write_fault

FOLDER = "native"
"""Beside JAX's compiled programs."""
_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_FLAGS = "-x c -std=gnu11 -O2 -fPIC -shared -w -fwrapv -fno-strict-aliasing -fvisibility=hidden -ffp-contract=off"
_DIGEST_BYTES = 32
_PROGRAM = Path(__file__).with_name("cpu.c")
_EXECUTOR = ThreadPoolExecutor(2)
_begun: dict[str, Future[Path]] = {}
_loaded: dict[str, ctypes.CDLL] = {}


@cache
def command() -> tuple[str, ...] | None:
    """The command that compiles: that of CC or CXX, or one that is found; None where there is none."""
    named = os.environ.get("CC") or os.environ.get("CXX")
    candidates = [shlex.split(named)] if named else [[name] for name in _COMPILERS]
    words = next((words for words in candidates if words and shutil.which(words[0])), None)
    if words is None:
        return None
    more = shlex.split(os.environ.get(C_FLAGS_VARIABLE, ""))
    return (*words, *_FLAGS.split(), *(["-march=native"] if sys.platform == "linux" else []), *more)


@cache
def fault() -> str | None:
    """Why programs cannot be compiled and played here, as the beginning of a sentence; None where they can."""
    if command() is None:
        return "no C compiler is found: install one, name it in CC"
    leaf = jax.ShapeDtypeStruct((), jnp.int32)
    try:
        build(source_of(translate(traced(jnp.add, leaf, leaf)[0])))
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
    macros = _run("-dM", "-E", "-")  # which tell the compiler's version and what the processor has
    key = f"{command()} {version('jaxlib')} {macros.stdout}"
    return f"native_{hashlib.sha256(key.encode()).hexdigest()[:16]}_"


def start(source: str) -> None:
    """Begin to compile a program that will be needed, beside the tracing of what needs it."""
    name = name_of(source)
    if name not in _loaded and name not in _begun:
        _begun[name] = _EXECUTOR.submit(cached, name, cache_folder(), lambda: _compiled(source))


def build(source: str) -> str:
    """Have a program compiled, and tell XLA its name, which it returns; raises UsageError where that fails."""
    name = name_of(source)
    start(source)
    if name not in _loaded:
        _load(name, _begun.pop(name).result())
    return name


def load(name: str) -> bool:
    """Tell XLA a program of the cache by its name; False where there is none that is whole and of this machine."""
    folder = cache_folder()
    path = folder and command() and name.startswith(_prefix()) and folder / FOLDER / name
    if name not in _loaded and path and is_whole(path):
        _load(name, path)
    return name in _loaded


def _load(name: str, path: Path) -> None:
    _loaded[name] = library = ctypes.CDLL(str(path))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(library.play), platform="cpu")


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


@cache
def _own_folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def _compiled(source: str) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        library = Path(place, "play.so")
        made = _run(f"-I{jax.ffi.include_dir()}", "-o", str(library), "-", "-lm", given=source)
        if made.returncode:
            reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise UsageError(f"{made.args[0]} does not compile the engine ({reason}): name another in CC")
        return library.read_bytes()


def _run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*(command() or ()), *words], input=given, capture_output=True, text=True, check=False)
