"""Programs for NVIDIA GPUs: one game a thread, in kernels that XLA itself launches from inside jitted programs.

Rare work is put off: the first kernel says which games want it and keeps what they need, a second one works them off.
Threads of a warp that have different things to do wait for each other, and so would all games for the few.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import ClosedJaxpr

from rlparity.errors import UsageError
from rlworldkit.jax.native import nvrtc
from rlworldkit.jax.native.compiler import source_of
from rlworldkit.jax.native.program import translate
from rlworldkit.jax.native.rare import split
from rlworldkit.jax.native.values import Untranslatable
from rlworldkit.jax.xla import PTX_CALL

_THREADS, _RARE_THREADS, _RARE_GRID, _RARE_SHARE = 128, 32, 1584, 4096
"""Threads of a block; those of one for rare work, how many of these there are at least (twelve for each processor of an
H200), and how many games each may have."""
_MAX_PARAMETERS = 1024
"""Of a kernel that XLA launches."""
_MAX_ELEMENTS = 2**32
"""Of an array: places are computed in 32 bits."""
_ESCAPED = re.compile(r"[^ !#-\[\]-~]")
"""What a string of MLIR has by its code."""
_PROGRAM = Path(__file__).with_name("gpu.cu")


class Kernel(NamedTuple):
    """A kernel's name, its C and the threads of a block."""

    name: str
    source: str
    threads: int


class Kernels(NamedTuple):
    """The kernels of a function of one game.

    rest: does the rare work, if there is any; changed: the numbers of the results that it writes. saved: shape and
    dtype of what the first kernel gives behind the results, which the rest takes: whether a game wants it, and values.
    """

    first: Kernel
    rest: Kernel | None = None
    changed: tuple[int, ...] = ()
    saved: tuple[Any, ...] = ()


@lru_cache(maxsize=64)
def kernels(closed: ClosedJaxpr, outputs: tuple[int, ...]) -> Kernels:
    """The kernels of the jaxpr of one game, for some of its results; raises Untranslatable."""
    closed = closed.replace(jaxpr=closed.jaxpr.replace(outvars=[closed.jaxpr.outvars[place] for place in outputs]))
    parts = split(closed)
    if parts is None:
        return Kernels(_kernel(closed))
    common, rest, changed = parts
    saved = tuple(common.out_avals[len(outputs) :])
    return Kernels(_kernel(common, len(outputs)), _kernel(rest, is_rare=True), changed, saved)


def _kernel(closed: ClosedJaxpr, asked: int | None = None, *, is_rare: bool = False) -> Kernel:
    """The kernel of a game; one of rare work has as inputs the results so far, and whether a game wants it."""
    read = [f"p{place}" for place in range(len(closed.in_avals))]
    written = [f"q{place}" for place in range(len(closed.out_avals))]
    before = [*(f"const void *old{place}" for place in range(len(written))), "const u8 *wanted"] if is_rare else []
    inputs, results = [f"const void *{name}" for name in read], [f"void *{name}" for name in written]
    parameters = [*before, *inputs, "const u32 *sizes", *results]
    if len(parameters) > _MAX_PARAMETERS:
        raise Untranslatable(f"{len(parameters)} arrays")
    name, threads = ("play_rare", _RARE_THREADS) if is_rare else ("play", _THREADS)
    lists = {"PARAMETERS": parameters, "READ": read, "WRITTEN": written}
    constants = {"KERNEL": name, "RARE": int(is_rare), "THREADS": threads, "SHARE": _RARE_SHARE}
    constants |= {key: ", ".join(words) for key, words in lists.items()}
    definitions = "".join(f"#define {key} {value}\n" for key, value in constants.items())
    return Kernel(name, definitions + source_of(translate(closed, asked), _PROGRAM), threads)


def call(closed: ClosedJaxpr, outputs: tuple[int, ...], aliases: Mapping[int, int], *args: Array) -> list[Array]:
    """Play one step of all games inside a jitted program; gives some results of a function of one game.

    Args:
        closed: the function.
        outputs: numbers of the results.
        aliases: places among ``outputs`` by the numbers of the arguments whose memory they take over.
        args: prices, of all games (prices,) or of each, then leaves (games, …).
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
    kernel: Kernel,
    blocks: int,
    args: Sequence[Array],
    results: Sequence[jax.ShapeDtypeStruct],
    aliases: Mapping[int, int],
) -> list[Array]:
    config = {"grid_x": blocks, "block_x": kernel.threads, "shared_mem_bytes": 0}
    config |= dict.fromkeys(("grid_y", "grid_z", "block_y", "block_z"), 1)
    numbers = ", ".join(f"{name} = {size} : i32" for name, size in config.items())
    places = ", ".join(f"{len(args) + place} : i32" for place in range(len(results)))
    data = _ESCAPED.sub(lambda found: f"\\{ord(found[0]):02X}", nvrtc.ptx(kernel.source, _capability()))
    text = (
        f'name = "{kernel.name}", kernel_type = "ptx", kernel_data = "{data}", {numbers}, output_indices = [{places}]'
    )
    launch = jax.ffi.ffi_call(
        PTX_CALL,
        results,
        input_layouts=[_layout(each) for each in args],
        output_layouts=[_layout(each) for each in results],
        input_output_aliases=dict(aliases),
        custom_call_api_version=2,
        legacy_backend_config=f"{{{text}}}",
    )
    return [*launch(*args)]


def _capability() -> int:
    """The least compute capability of the GPUs, 90 for 9.0; that of an H100 where there is none."""
    devices = jax.devices() if jax.default_backend() == "gpu" else []
    return min((int(str(each.compute_capability).replace(".", "")) for each in devices), default=90)


def _layout(array: Any) -> tuple[int, ...]:
    """Axes from the outermost to the innermost, which is that of games."""
    return (*range(1, array.ndim), 0) if array.ndim else ()
