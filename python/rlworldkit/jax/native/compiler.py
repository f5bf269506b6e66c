"""Programs for the processor: the compiler that is found on the machine, and the cache of what it made."""

import ctypes
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import jax

from rlparity.errors import UsageError
from rlparity.io.safe_read import GIB, Unreadable, read_bytes
from rlworldkit.jax.native.program import Program, Target
from rlworldkit.jax.trace_cache import cache_folder

FOLDER = "native"
"""Beside JAX's compiled programs."""
TARGET = Target("cpu", "(({type} *){leaf} + {game} * {size})")
_COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_FLAGS = "-x c -std=gnu11 -O2 -fPIC -shared -w -fwrapv -fno-strict-aliasing -fvisibility=hidden -ffp-contract=off"
_DIGEST_BYTES = 32
_CPU_INFO = Path("/proc/cpuinfo")
_TEXT = Path(__file__).with_name("cpu.c")


@cache
def command() -> tuple[str, ...] | None:
    """The command that compiles: that of CC or CXX, or one that is found; None where there is none."""
    named = os.environ.get("CC") or os.environ.get("CXX")
    candidates = [shlex.split(named)] if named else [[name] for name in _COMPILERS]
    words = next((words for words in candidates if shutil.which(words[0])), None)
    if words is None:
        return None
    return (*words, *_FLAGS.split(), *(["-march=native"] if _CPU_INFO.exists() else []))


@cache
def identity() -> str:
    """What a compiled program depends on besides its source: compiler, processor and JAX."""
    words = command()
    assert words is not None
    shown = subprocess.run([words[0], "--version"], capture_output=True, text=True, check=False).stdout
    features = [line for line in _CPU_INFO.read_text().splitlines() if ":" in line] if _CPU_INFO.exists() else []
    kept = {line for line in features if line.split()[0] in ("flags", "Features", "model")}
    machine = platform.machine(), platform.system(), *sorted(kept)
    return "\n".join([*words, shown, *machine, version("jaxlib"), _TEXT.read_text()])


def source_of(program: Program) -> str:
    """The C of a program."""
    inputs, outputs = program.inputs, program.outputs
    sizes = [f"enum {{ INPUTS = {len(inputs)}, OUTPUTS = {len(outputs)} }};"]
    for name, leaves in (("IN", inputs), ("OUT", outputs)):
        numbers, widths = [leaf.size == 1 for leaf in leaves], [leaf.size * leaf.dtype.itemsize for leaf in leaves]
        sizes.append(f"TABLE u8 {name}_NUMBER[] = {{{', '.join(str(int(each)) for each in numbers)}}};")
        sizes.append(f"TABLE u32 {name}_BYTES[] = {{{', '.join(map(str, widths))}}};")
    head = "static void game(const void *const *in, void *const *out, i64 g, i64 price) {"
    lines = ["  " * depth + text for depth, text in program.lines]
    return "\n".join([*sizes, program.tables, head, *program.loads.values(), *lines, *program.stores, "}", ""])


def name_of(source: str) -> str:
    """The name of a program on this machine, by which compiled ones are found again."""
    return "native_" + hashlib.sha256((identity() + source).encode()).hexdigest()[:32]


def build(name: str, source: str) -> None:
    """Compile a program, unless the cache has it, and tell XLA its name; raises UsageError where that fails."""
    if not load(name):
        folder = cache_folder()
        with tempfile.TemporaryDirectory(dir=_writable(folder)) as place:
            built = _compiled(Path(place), source)
            content = built.read_bytes()
            built.write_bytes(content + hashlib.sha256(content).digest())
            if folder is not None and Path(place).parent == folder / FOLDER:
                built = built.replace(folder / FOLDER / name)
            _register(name, built)


def load(name: str) -> bool:
    """Tell XLA a program of the cache by its name; False where there is none that is whole."""
    if name in _REGISTERED:
        return True
    folder = cache_folder()
    if folder is None:
        return False
    try:
        content = read_bytes(folder / FOLDER / name, GIB)
    except (FileNotFoundError, Unreadable):
        return False
    if hashlib.sha256(content[:-_DIGEST_BYTES]).digest() != content[-_DIGEST_BYTES:]:
        return False
    _register(name, folder / FOLDER / name)
    return True


_REGISTERED: dict[str, ctypes.CDLL] = {}


def _register(name: str, path: Path) -> None:
    _REGISTERED[name] = library = ctypes.CDLL(str(path))
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(library.play), platform="cpu")


def _writable(folder: Path | None) -> Path | None:
    """The folder to compile in, so that what is compiled only changes its name; None: the system's."""
    try:
        if folder is not None:
            (folder / FOLDER).mkdir(parents=True, exist_ok=True)
            if os.access(folder / FOLDER, os.W_OK):
                return folder / FOLDER
    except OSError:
        pass
    return None


def _compiled(place: Path, source: str) -> Path:
    words = command()
    assert words is not None
    (place / "game.h").write_text(source)
    (place / "play.c").write_text(_TEXT.read_text())
    folders = [f"-I{place}", f"-I{jax.ffi.include_dir()}"]
    made = subprocess.run(
        [*words, *folders, "-o", str(place / "play.so"), str(place / "play.c"), "-lm"],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        reason = (made.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise UsageError(f"{words[0]} does not compile the engine ({reason}): choose --engine-backend xla.")
    return place / "play.so"
