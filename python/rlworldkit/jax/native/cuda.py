"""Programs for NVIDIA GPUs: one game a thread, in kernels that XLA itself launches from inside jitted programs.

Rare work is deferred: a first kernel tells which games need it and saves their inputs, and a second kernel does it.
Threads of a warp that branch differently wait for each other, so in one kernel most games would wait for a few.
NVRTC compiles the kernels, a library in JAX's wheels for CUDA, which needs neither nvcc nor a GPU.
"""

import ctypes
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var
from jax.interpreters import partial_eval

from rlparity.errors import UsageError
from rlworldkit.jax import program_cache
from rlworldkit.jax.batching import RARE_WORK
from rlworldkit.jax.native.cpu import source_of
from rlworldkit.jax.native.program import translate
from rlworldkit.jax.native.translator import Untranslatable
from rlworldkit.jax.xla import PTX_CALL

_THREADS, _RARE_THREADS, _RARE_GRID, _RARE_SHARE = 128, 32, 1584, 4096
"""Threads of a block; for rare work: threads of a block, minimum number of blocks (twelve for each multiprocessor of an
H200), and maximum number of games of a block."""
_MAX_PARAMETERS = 1024
"""Maximum number of parameters of a kernel that XLA launches."""
_MAX_ELEMENTS = 2**32
"""Number of elements that every array must stay below: positions are computed in 32 bits."""
_ESCAPED = re.compile(r"[^ !#-\[\]-~]")
"""Characters that a string of MLIR must have as hexadecimal codes."""
_OPTIONS = ("--std=c++17", "--fmad=false", "--disable-warnings")
"""NVRTC's options; without fused multiply-add, floats are the same as XLA's."""
_OLD_PTX, _OLD_UNTIL = "8.1", 90
"""First PTX version with enough parameters for a world's leaves (drivers from R530 on); the last GPU it supports."""
_PROGRAM = Path(__file__).with_name("gpu.cu")


class CudaKernel(NamedTuple):
    """A kernel's name, its CUDA C and the threads of a block."""

    name: str
    source: str
    threads: int


class Kernels(NamedTuple):
    """The kernels of a function of one game.

    rest: kernel of the rare work, if there is any. changed: numbers of the results that it writes. saved: shape and
    dtype of further outputs of ``first``, which ``rest`` reads: whether a game needs the work, and values for it.
    """

    first: CudaKernel
    rest: CudaKernel | None = None
    changed: tuple[int, ...] = ()
    saved: tuple[Any, ...] = ()


@lru_cache(maxsize=64)
def kernels(closed: ClosedJaxpr, outputs: tuple[int, ...]) -> Kernels:
    """Make the kernels of the jaxpr of one game, for some of its results; raises Untranslatable."""
    closed = closed.replace(jaxpr=closed.jaxpr.replace(outvars=[closed.jaxpr.outvars[place] for place in outputs]))
    parts = _split(closed)
    if parts is None:
        return Kernels(_kernel(closed))
    common, rest, changed = parts
    saved = tuple(common.out_avals[len(outputs) :])
    return Kernels(_kernel(common, len(outputs)), _kernel(rest, is_rare=True), changed, saved)


def _split(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, ClosedJaxpr, tuple[int, ...]] | None:
    """Split a program at its longest ``run_rarely``; returns both parts and the changed results, or None without one.

    The first part returns the program's results without the work, whether the work is needed, and the values that the
    second part reads. The second part does the work, and returns only the results that change, given by their numbers.
    """
    jaxpr = closed.jaxpr
    places = [place for place, eqn in enumerate(jaxpr.eqns) if eqn.params.get("name") == RARE_WORK]
    if not places:
        return None
    place = max(places, key=lambda place: _size(jaxpr.eqns[place].params))
    before, work, after = jaxpr.eqns[:place], jaxpr.eqns[place], jaxpr.eqns[place + 1 :]
    later = set(work.outvars)
    for eqn in after:
        if any(isinstance(atom, Var) and atom in later for atom in eqn.invars):
            later.update(eqn.outvars)
    changed = tuple(number for number, atom in enumerate(jaxpr.outvars) if isinstance(atom, Var) and atom in later)
    known = [*jaxpr.invars, *(variable for eqn in before for variable in eqn.outvars)]
    rest, used = _program(closed, known, [_answered(work, True), *after], [jaxpr.outvars[place] for place in changed])
    saved = [work.invars[-1], *(variable for variable, is_used in zip(known, used, strict=True) if is_used)]
    eqns = [*before, _answered(work, False), *after]
    common, _ = _program(closed, jaxpr.invars, eqns, [*jaxpr.outvars, *saved], keeps_inputs=True)
    return common, rest, changed


def _size(part: Any) -> int:
    """Count the equations of a jaxpr, or of the jaxprs among parameters, and all nested ones."""
    inner = jax.tree.leaves(part, is_leaf=lambda leaf: hasattr(leaf, "eqns"))
    return sum(1 + _size(eqn.params) for each in inner for eqn in getattr(each, "eqns", ()))


def _answered(work: JaxprEqn, is_wanted: bool) -> JaxprEqn:
    """Make rare work always or never needed."""
    wanted: Any = work.invars[-1].aval
    return work.replace(invars=[*work.invars[:-1], Literal(np.full(wanted.shape, is_wanted), wanted)])


def _program(
    closed: ClosedJaxpr, inputs: list[Var], eqns: list[JaxprEqn], results: list[Any], *, keeps_inputs: bool = False
) -> tuple[ClosedJaxpr, list[bool]]:
    """Make a program of the equations that the results depend on; also returns which inputs it takes."""
    names = closed.jaxpr.debug_info.with_unknown_names()
    whole = closed.jaxpr.replace(invars=inputs, eqns=eqns, outvars=results, debug_info=names)
    jaxpr, used = partial_eval.dce_jaxpr(whole, [True] * len(results), instantiate=keeps_inputs)
    return ClosedJaxpr(jaxpr, closed.consts), used


def _kernel(closed: ClosedJaxpr, asked: int | None = None, *, is_rare: bool = False) -> CudaKernel:
    """Make the kernel of a game; a kernel of rare work also reads the results so far, and whether a game needs it."""
    read = [f"p{place}" for place in range(len(closed.in_avals))]
    written = [f"q{place}" for place in range(len(closed.out_avals))]
    before = [*(f"const void *old{place}" for place in range(len(written))), "const u8 *wanted"] if is_rare else []
    inputs, results = [f"const void *{name}" for name in read], [f"void *{name}" for name in written]
    parameters = [*before, *inputs, "const u32 *sizes", *results]
    if len(parameters) > _MAX_PARAMETERS:
        raise Untranslatable(f"{len(parameters)} arrays")
    name, threads = ("play_rare", _RARE_THREADS) if is_rare else ("play", _THREADS)
    constants = {"KERNEL": name, "RARE": int(is_rare), "THREADS": threads, "SHARE": _RARE_SHARE}
    lists = {"PARAMETERS": parameters, "READ": read, "WRITTEN": written}
    constants |= {key: ", ".join(words) for key, words in lists.items()}
    definitions = "".join(f"#define {key} {value}\n" for key, value in constants.items())
    return CudaKernel(name, definitions + source_of(translate(closed, asked), _PROGRAM), threads)


def call(closed: ClosedJaxpr, outputs: tuple[int, ...], aliases: Mapping[int, int], *args: Array) -> list[Array]:
    """Run a function of one game on all games inside a jitted program; returns some of its results.

    Args:
        closed: jaxpr of the function.
        outputs: numbers of the results to return.
        aliases: from the number of an argument to the place in ``outputs`` that takes over its memory.
        args: prices, shared by all games (prices,) or one row each, then leaves (games, …).
    """
    made, games = kernels(closed, outputs), args[1].shape[0]
    own_prices = args[0].ndim > closed.in_avals[0].ndim
    sizes = jnp.array([games, games if own_prices else 1, own_prices], jnp.uint32)
    leaves = [*(closed.out_avals[place] for place in outputs), *made.saved]
    if games * max(leaf.size for leaf in (*closed.in_avals, *leaves)) >= _MAX_ELEMENTS:
        raise UsageError(f"{games} games are more than a GPU plays at a time: choose --engine-backend xla.")
    results = [jax.ShapeDtypeStruct((games, *leaf.shape), leaf.dtype) for leaf in leaves]
    found = _launch(made.first, -(-games // made.first.threads), [*args, sizes], results, aliases)
    if made.rest:
        before, changed = [found[place] for place in made.changed], [results[place] for place in made.changed]
        blocks, in_place = max(_RARE_GRID, -(-games // _RARE_SHARE)), {place: place for place in range(len(changed))}
        after = _launch(made.rest, blocks, [*before, *found[len(outputs) :], sizes], changed, in_place)
        for place, value in zip(made.changed, after, strict=True):
            found[place] = value
    return found[: len(outputs)]


def _launch(
    kernel: CudaKernel, blocks: int, args: Sequence[Array], results: Sequence[Any], aliases: Mapping[int, int]
) -> list[Array]:
    config = {"grid_x": blocks, "block_x": kernel.threads, "shared_mem_bytes": 0}
    config |= dict.fromkeys(("grid_y", "grid_z", "block_y", "block_z"), 1)
    numbers = ", ".join(f"{name} = {size} : i32" for name, size in config.items())
    places = ", ".join(f"{len(args) + place} : i32" for place in range(len(results)))
    data = _ESCAPED.sub(lambda found: f"\\{ord(found[0]):02X}", _ptx(kernel.source, _capability()))
    what = f'name = "{kernel.name}", kernel_type = "ptx", kernel_data = "{data}"'
    launch = jax.ffi.ffi_call(
        PTX_CALL,
        results,
        input_layouts=[_layout(each) for each in args],
        output_layouts=[_layout(each) for each in results],
        input_output_aliases=dict(aliases),
        custom_call_api_version=2,
        legacy_backend_config=f"{{{what}, {numbers}, output_indices = [{places}]}}",
    )
    return [*launch(*args)]


def _capability() -> int:
    """Return the least compute capability of the GPUs, 90 for 9.0; that of an H100 without a GPU."""
    devices = jax.devices() if jax.default_backend() == "gpu" else []
    return min((int(str(each.compute_capability).replace(".", "")) for each in devices), default=90)


def _layout(array: Any) -> tuple[int, ...]:
    """Return the axes from the outermost to the innermost, which is the axis of games."""
    return (*range(1, array.ndim), 0) if array.ndim else ()


@cache
def find_library() -> Path | None:
    """Find the newest NVRTC among the installed packages; None if there is none."""
    spec = find_spec("nvidia")
    folders = (spec and spec.submodule_search_locations) or ()
    found = [path for folder in folders for path in Path(folder).glob("*/lib/libnvrtc.so.*") if ".alt" not in path.name]
    return max(found, key=lambda path: path.name, default=None)


def _ptx(source: str, capability: int) -> str:
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
