"""Programs for the processor: the compiler that is found on the machine, and the cache of what it made."""

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax
import jax.numpy as jnp

from rlparity.errors import UsageError
from rlparity.io.safe_read import GIB, Unreadable, read_bytes
from rlworldkit.jax.native.program import Program, Target, traced, translate
from rlworldkit.jax.switches import cache_folder
from rlworldkit.jax.xla import C_FLAGS_VARIABLE, write_fault

PREFIX = "native_"
FOLDER = "native"
"""Beside JAX's compiled programs."""
TARGET = Target("cpu", "(({type} *){leaf} + {game} * {size})")
_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_FLAGS = "-x c -std=gnu11 -O2 -fPIC -shared -w -fwrapv -fno-strict-aliasing -fvisibility=hidden -ffp-contract=off"
_DIGEST_BYTES = 32
_CPU_INFO = Path("/proc/cpuinfo")
_TEXT, _ARITHMETIC = (Path(__file__).with_name(name) for name in ("cpu.c", "arithmetic.h"))


@cache
def command() -> tuple[str, ...] | None:
    """The command that compiles: that of CC or CXX, or one that is found; None where there is none."""
    named = os.environ.get("CC") or os.environ.get("CXX")
    candidates = [shlex.split(named)] if named else [[name] for name in _COMPILERS]
    words = next((words for words in candidates if words and shutil.which(words[0])), None)
    if words is None:
        return None
    more = shlex.split(os.environ.get(C_FLAGS_VARIABLE, ""))
    return (*words, *_FLAGS.split(), *(["-march=native"] if _CPU_INFO.exists() else []), *more)


@cache
def fault() -> str | None:
    """Why programs cannot be compiled and played here, as the beginning of a sentence; None where they can."""
    if command() is None:
        return "no C compiler is found: install one, name it in CC"
    try:
        leaf = jax.ShapeDtypeStruct((), jnp.int32)
        trial = source_of(translate(traced(jnp.add, leaf, leaf)[0], TARGET))
        build(name_of(trial), trial)
    except UsageError as error:
        return str(error)
    return None


@cache
def _identity() -> str:
    """A digest of what a compiled program depends on besides its source: compiler, processor and jaxlib."""
    words = command()
    assert words is not None
    shown = subprocess.run([words[0], "--version"], capture_output=True, text=True, check=False).stdout
    lines = _CPU_INFO.read_text().splitlines() if _CPU_INFO.exists() else []
    features = sorted({line for line in lines if line.split(":")[0].strip() in ("flags", "Features", "model")})
    texts = _TEXT.read_text(), _ARITHMETIC.read_text()
    parts = *words, shown, platform.machine(), platform.system(), *features, version("jaxlib"), *texts
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def source_of(program: Program) -> str:
    """The C of a program."""
    sizes = f"enum {{ INPUTS = {len(program.inputs)}, OUTPUTS = {len(program.outputs)} }};"
    head = "static void game(const void *const *in, void *const *out, i64 g, i64 price) {"
    lines = ["  " * depth + text for depth, text in program.lines]
    return "\n".join([sizes, program.tables, head, *program.loads.values(), *lines, *program.stores, "}", ""])


def name_of(source: str) -> str:
    """The name of a program on this machine, by which a compiled one is found again."""
    return f"{PREFIX}{_identity()}_{hashlib.sha256(source.encode()).hexdigest()[:16]}"


def start(name: str, source: str) -> None:
    """Begin to compile a program that will be needed, beside the tracing of what needs it."""
    if name not in _REGISTERED and name not in _BEGUN:
        _BEGUN[name] = _EXECUTOR.submit(_build, name, source, cache_folder())


def build(name: str, source: str) -> None:
    """Have a program compiled, and tell XLA its name; raises UsageError where that fails."""
    start(name, source)
    if name not in _REGISTERED:
        _register(name, *_BEGUN.pop(name).result())


def load(name: str) -> bool:
    """Tell XLA a program of the cache by its name; False where there is none that is whole and of this machine."""
    folder = cache_folder()
    if name not in _REGISTERED and folder is not None and command() is not None:
        path = folder / FOLDER / name
        if name.startswith(PREFIX + _identity()) and _is_whole(path):
            _register(name, path, None)
    return name in _REGISTERED


_REGISTERED: dict[str, ctypes.CDLL] = {}
_BEGUN: dict[str, Future[tuple[Path, tempfile.TemporaryDirectory[str] | None]]] = {}
_EXECUTOR = ThreadPoolExecutor(2)


def _register(name: str, path: Path, place: tempfile.TemporaryDirectory[str] | None) -> None:
    _REGISTERED[name] = library = ctypes.CDLL(str(path))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(library.play), platform="cpu")
    if place:
        place.cleanup()


def _is_whole(path: Path) -> bool:
    try:
        content = read_bytes(path, GIB)
    except (FileNotFoundError, Unreadable):
        return False
    return hashlib.sha256(content[:-_DIGEST_BYTES]).digest() == content[-_DIGEST_BYTES:]


def _build(name: str, source: str, cache: Path | None) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """The compiled program, and the folder that it lies in where that is not the cache."""
    folder = None if cache is None else cache / FOLDER
    if folder and _is_whole(folder / name):
        return folder / name, None
    writable = folder if folder and not write_fault(folder) else None
    place = tempfile.TemporaryDirectory(dir=writable)
    built = _compiled(Path(place.name), source)
    if writable is None:
        return built, place
    content = built.read_bytes()
    built.write_bytes(content + hashlib.sha256(content).digest())
    built.replace(writable / name)  # others may be writing the same
    place.cleanup()
    return writable / name, None


def _compiled(place: Path, source: str) -> Path:
    words = command()
    assert words is not None
    (place / "game.h").write_text(source)
    folders = [f"-I{place}", f"-I{_TEXT.parent}", f"-I{jax.ffi.include_dir()}"]
    made = subprocess.run(
        [*words, *folders, "-o", str(place / "play.so"), str(_TEXT), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UsageError(f"{words[0]} does not compile the engine ({reason}): name another in CC")
    return place / "play.so"
