"""Compilation of CUDA C to PTX with NVRTC, a library in JAX's wheels for CUDA; needs neither nvcc nor a GPU."""

import ctypes
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from rlparity.errors import UsageError
from rlworldkit.jax import program_cache

_OPTIONS = ("--std=c++17", "--fmad=false", "--disable-warnings")
"""NVRTC's options; without fused multiply-add, floats are the same as XLA's."""
_OLD_PTX, _OLD_UNTIL = "8.1", 90
"""First PTX version with enough parameters for a world's leaves (drivers from R530 on); the last GPU it supports."""


@cache
def find_library() -> Path | None:
    """Find the newest NVRTC among the installed packages; None if there is none."""
    spec = find_spec("nvidia")
    folders = (spec and spec.submodule_search_locations) or ()
    found = [path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*") if ".alt" not in path.name]
    return max(found, key=lambda path: path.name, default=None)


def ptx(source: str, capability: int) -> str:
    """Return PTX for devices of this compute capability (90 for 9.0), cached on disk. Raises UsageError."""
    key = "\n".join([str(find_library()), str(capability), *_OPTIONS, _OLD_PTX, source])
    path = program_cache.path_of(key)
    if (cached := program_cache.read(path)) is not None:
        return cached.decode()
    text, _ = compiled(source, f"--gpu-architecture=compute_{capability}")
    if capability <= _OLD_UNTIL:
        text = re.sub(r"^\.version .*$", f".version {_OLD_PTX}", text, count=1, flags=re.MULTILINE)
    program_cache.write(path, text.encode())
    return text


def compiled(source: str, *options: str) -> tuple[str, str]:
    """Compile a program to PTX; returns it and the compiler's log. Raises UsageError if compilation fails."""
    nvrtc, program = _library(), ctypes.c_void_p()
    words = [word.encode() for word in (*_OPTIONS, *options)]
    log, code = "", nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), None, 0, None, None)
    try:
        if not code:
            code = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
            log = _text(program, "ProgramLog")
        if code:
            reason = (log.strip().splitlines() or [f"code {code}"])[0]
            raise UsageError(f"NVRTC cannot compile the engine ({reason}): choose --engine-backend xla.")
        return _text(program, "PTX"), log
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(program: ctypes.c_void_p, name: str) -> str:
    size = ctypes.c_size_t()
    getattr(_library(), f"nvrtcGet{name}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(_library(), f"nvrtcGet{name}")(program, text)
    return text.value.decode()


@cache
def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(find_library()))
    except OSError as error:
        reason = f"NVRTC cannot be loaded ({error})"
        raise UsageError(f"{reason}: install rlworldkit[cuda], or choose --engine-backend xla.") from error
