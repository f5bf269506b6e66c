"""Programs for NVIDIA GPUs: one game a thread, in kernels that XLA itself launches from inside jitted programs.

Rare work is put off: the first kernel lists the games that want it and keeps what they need, a second one works off the
list. Threads of a warp that have different things to do wait for each other, and so would all games for the few.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import ClosedJaxpr

from rlparity.errors import UsageError
from rlworldkit.jax.native import nvrtc
from rlworldkit.jax.native.program import Program, Target, translate
from rlworldkit.jax.native.rare import split
from rlworldkit.jax.native.values import Untranslatable, ctype
from rlworldkit.jax.xla import PTX_CALL

_BLOCK, _LANES, _RARE_GRID, _RARE_LIST = 128, 32, 1584, 4096
"""Threads of a block; those of one for rare work, how many of these there are at least (twelve for each processor of an
H200), and how many games each may have."""
_MAX_PARAMETERS = 1024
"""Of a kernel that XLA launches."""
_NAME = re.compile(r"\b[avm]\d+\b")
_SET = re.compile(r"\b(v\d+) = |\b([am]\d+)\b")
"""Of a variable, or of an array in memory; and where it gets a value, which a name of an array may mean."""
_LEAF = re.compile(r"\b(in|out)\[(\d+)\]")
_ESCAPED = re.compile(r"[^ !#-\[\]-~]")
"""What a string of MLIR has by its code."""
_MAX_ELEMENTS = 2**32
"""Of an array: places are computed in 32 bits."""

PRELUDE = r"""
typedef signed char i8; typedef short i16; typedef int i32; typedef long long i64; typedef float f32;
typedef unsigned char u8; typedef unsigned short u16; typedef unsigned u32; typedef unsigned long long u64;
#define TABLE static __device__ const
#define LANES 32
#define BALLOT(x) __ballot_sync(~0u, x)
#define SYNCHRONIZE() __syncwarp()
#define POPCOUNT(x) (sizeof(x) == 8 ? __popcll(x) : __popc((u32)(x)))
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
"""
_ARITHMETIC = Path(__file__).with_name("arithmetic.h")


CUDA = Target("cuda", "(({type} *){leaf} + {game})", "n", "price_stride")
"""The games lie next to each other, so that the threads of a warp read and write the same lines of memory."""


class Kernel(NamedTuple):
    """A kernel's name, its C and the threads of a block."""

    name: str
    source: str
    threads: int


class Kernels(NamedTuple):
    """The kernels of a function of one game.

    rest: does the rare work, if there is any; changed: the numbers of the results that it writes. words: that the first
    kernel keeps for a game that wants it.
    """

    first: Kernel
    rest: Kernel | None = None
    changed: tuple[int, ...] = ()
    words: int = 0


@lru_cache(maxsize=64)
def kernels(closed: ClosedJaxpr, outputs: tuple[int, ...]) -> Kernels:
    """The kernels of the jaxpr of one game, for some of its results; raises Untranslatable."""
    closed = closed.replace(jaxpr=closed.jaxpr.replace(outvars=[closed.jaxpr.outvars[place] for place in outputs]))
    parts = split(closed)
    if parts is None:
        return Kernels(_first(translate(closed, CUDA), None))
    first, rest = translate(parts.common, CUDA), translate(parts.rest, CUDA)
    places, words = _places(rest.inputs)
    return Kernels(_first(first, places), _rest(rest, places), parts.changed, words)


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
    leaves = [closed.out_avals[place] for place in outputs]
    if games * max(leaf.size for leaf in (*closed.in_avals, *leaves)) >= _MAX_ELEMENTS:
        raise UsageError(f"{games} games are more than a GPU plays at a time: choose --engine-backend xla.")
    results = [jax.ShapeDtypeStruct((games, *leaf.shape), leaf.dtype) for leaf in leaves]
    kept = [jax.ShapeDtypeStruct((games,), jnp.bool_), jax.ShapeDtypeStruct((made.words * games,), jnp.uint32)]
    given = [*results, *kept] if made.rest else results
    found = _launch(made.first, -(-games // _BLOCK), [*args, sizes], given, aliases)
    if made.rest:
        before, changed = [found[place] for place in made.changed], [results[place] for place in made.changed]
        blocks, in_place = max(_RARE_GRID, -(-games // _RARE_LIST)), {place: place for place in range(len(changed))}
        after = _launch(made.rest, blocks, [*before, *found[-2:], sizes], changed, in_place)
        for place, value in zip(made.changed, after, strict=True):
            found[place] = value
    return found[: len(results)]


def _launch(
    kernel: Kernel,
    blocks: int,
    args: Sequence[Array],
    results: Sequence[jax.ShapeDtypeStruct],
    aliases: Mapping[int, int],
) -> list[Array]:
    sizes = {"grid": (blocks, 1, 1), "block": (kernel.threads, 1, 1)}
    config = {f"{name}_{axis}": size for name, each in sizes.items() for axis, size in zip("xyz", each, strict=True)}
    numbers = ", ".join(f"{name} = {size} : i32" for name, size in {**config, "shared_mem_bytes": 0}.items())
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


def _places(kept: Sequence[jax.ShapeDtypeStruct]) -> tuple[tuple[int, ...], int]:
    """Where in a game's words its values lie, those of 64 bits at even places, and how many words there are."""
    places, end = [0] * len(kept), 0
    for number, value in sorted(enumerate(kept), key=lambda each: -each[1].dtype.itemsize):
        places[number] = end
        end += max(1, value.dtype.itemsize // 4) * prod(value.shape)
    return tuple(places), end + end % 2


def _first(program: Program, places: tuple[int, ...] | None) -> Kernel:
    """The kernel that plays; places: of what it keeps for a game that wants rare work, None where there is none."""
    parameters = [f"const {ctype(each.dtype)} *p{place}" for place, each in enumerate(program.inputs)]
    parameters.append("const u32 *games")
    kept, push, write = 0, list[str](), list[str]()
    if places is not None:  # the first results say whether it is wanted, and what it needs
        kept, write = 1 + len(places), ["wanted", *(f"(words + {place} * n)" for place in places)]
    first = next((at for at, text in enumerate(program.stores) if f"out[{kept}]" in text), len(program.stores))
    if places is not None:
        flag = program.stores[0].partition(" = ")[2].removesuffix(";")
        push = [program.stores[0], f"if ({flag}) {{", *program.stores[1:first], "}"]
    results = [f"{ctype(each.dtype)} *q{place}" for place, each in enumerate(program.outputs[kept:])]
    parameters += [*results, *(["u8 *wanted", "u32 *words"] if places is not None else [])]
    lines = [
        "const u32 n = games[0], price_stride = games[1], g = blockIdx.x * blockDim.x + threadIdx.x;",
        "const u32 price = games[2] * g;",
        "if (g >= n) return;",
        *_placed(program, push, program.stores[first:]),
    ]
    read = [f"p{place}" for place in range(len(program.inputs))]
    write += [f"q{place}" for place in range(len(results))]
    return Kernel("play", _source(program, _head("play", _BLOCK, parameters), lines, read, write), _BLOCK)


def _rest(program: Program, places: tuple[int, ...]) -> Kernel:
    """The kernel of rare work: each block, one warp, collects those of its games that want it, and plays them."""
    types = [ctype(each.dtype) for each in program.outputs]
    parameters = [f"const {type_} *p{place}" for place, type_ in enumerate(types)]  # where the results already are
    parameters += ["const u8 *wanted", "const u32 *words", "const u32 *games"]
    parameters += [f"{type_} *q{place}" for place, type_ in enumerate(types)]
    lines = [
        f"__shared__ u32 list[{_RARE_LIST}];",
        "const u32 n = games[0], price_stride = n, share = (n + gridDim.x - 1) / gridDim.x;",
        "const u32 first = blockIdx.x * share, last = first + share < n ? first + share : n;",
        "u32 found = 0;",
        "for (u32 start = first; start < last; start += LANES) {",
        "const u32 g = start + threadIdx.x;",
        "const u32 votes = BALLOT(g < last && wanted[g]);",
        "if (votes >> threadIdx.x & 1) list[found + POPCOUNT(votes & ((1u << threadIdx.x) - 1))] = g;",
        "found += POPCOUNT(votes);",
        "}",
        "SYNCHRONIZE();",
        "for (u32 k = threadIdx.x; k < found; k += LANES) {",
        "const u32 g = list[k], price = g;",
        *_placed(program, [], program.stores),
        "}",
    ]
    read, write = [f"(words + {place} * n)" for place in places], [f"q{place}" for place in range(len(types))]
    return Kernel("play_rare", _source(program, _head("play_rare", _LANES, parameters), lines, read, write), _LANES)


def _head(name: str, block: int, parameters: Sequence[str]) -> str:
    if len(parameters) > _MAX_PARAMETERS:
        raise Untranslatable(f"{len(parameters)} arrays")
    return f'extern "C" __global__ void __launch_bounds__({block}) {name}({", ".join(parameters)}) {{'


def _source(program: Program, head: str, lines: Sequence[str], read: Sequence[str], write: Sequence[str]) -> str:
    """A file with one kernel, whose inputs and results have these pointers."""
    pointers = {"in": read, "out": write}
    body = _LEAF.sub(lambda found: pointers[found[1]][int(found[2])], "\n".join(lines))
    return "\n".join([PRELUDE, _ARITHMETIC.read_text(), program.tables, head, body, "}"])


def _placed(program: Program, push: Sequence[str], stores: Sequence[str]) -> list[str]:
    """The statements of a game, each load in front of the first that needs it, ``push`` where its values are known.

    All loads are in front of all stores: a result can lie where an input was.
    """
    statements = list[list[str]]()
    for depth, text in program.lines:
        if depth == 1 and not text.startswith(("}", "else")):
            statements.append([])
        statements[-1].append(text)
    needed, last = set(_NAME.findall(" ".join(push))), -1
    for at, statement in enumerate(statements):
        if needed.intersection(name for found in _SET.findall(" ".join(statement)) for name in found):
            last = at
    statements.insert(last + 1, [*push])
    lines, loads = list[str](), dict(program.loads)
    for statement in [*statements, [*stores]]:
        for name in dict.fromkeys(_NAME.findall(" ".join(statement))):
            if name in loads:
                lines.append(loads.pop(name))
        lines += statement
    return lines
