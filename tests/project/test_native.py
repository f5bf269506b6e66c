"""Translated programs against those that XLA compiles: the same bits, operation by operation and world by world."""

import ctypes
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array, lax
from jax.extend.core import ClosedJaxpr
from jax.sharding import Mesh
from numpy.typing import NDArray
from orchard.env import OrchardJaxEnv

from goodharts.env import env_of
from goodharts.rules import MODES
from hackmatrix.env import ENV
from rlparity import UsageError
from rlworldkit.jax import program_cache
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.engine_backend import AUTO, NATIVE, VARIABLE, on_backend
from rlworldkit.jax.env import JaxEnv
from rlworldkit.jax.native import cpu, cuda
from rlworldkit.jax.native.env import is_native, native_env, playing
from rlworldkit.jax.native.program import traced, translate
from rlworldkit.ppo import parallel
from tests.played import choose

pytestmark = pytest.mark.skipif(cpu.command() is None, reason="needs a C compiler")

GAMES = 40
RNG = np.random.default_rng(0)
PRICES = np.zeros(1, np.int32)
SPECIAL = np.array([0, 1, -1, 2**31 - 1, -(2**31), 7, 31, 32, 33], np.int64)


def numbers(dtype: Any, *shape: int) -> NDArray[Any]:  # noqa: ANN401 - dtypes
    """Random numbers of games, with those among them at which arithmetic ends."""
    kind = np.dtype(dtype)
    if kind == np.float32:
        found = RNG.normal(0, 3, (GAMES, *shape)).astype(np.float32)
        found.flat[: min(8, found.size)] = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e10, -1e10, 0.5])[: found.size]
        return found
    if kind == np.bool_:
        return RNG.random((GAMES, *shape)) < 0.5
    info = np.iinfo(kind)
    found = RNG.integers(info.min, info.max, (GAMES, *shape), kind, endpoint=True)
    chosen = RNG.random(found.shape) < 0.5
    return np.where(chosen, RNG.choice(SPECIAL, found.shape).astype(kind), found)


I32, U32, I8, U8, F32, BOOL = np.int32, np.uint32, np.int8, np.uint8, np.float32, np.bool_


def arithmetic(x: Array, y: Array) -> tuple[Array, ...]:
    return x + y, x - y, x * y, -x, jnp.abs(x), jnp.sign(x)


def comparison(x: Array, y: Array) -> tuple[Array, ...]:
    return x < y, x <= y, x == y, x != y, x > y, x >= y, jnp.maximum(x, y), lax.min(x, y)


def integers(x: Array, y: Array, xs: Array, ys: Array) -> tuple[Array, ...]:
    return (
        *(*arithmetic(x, y), *arithmetic(xs, ys), *comparison(x, y), *comparison(xs, ys)),
        *(lax.div(x, y), lax.rem(x, y), x & y, x | y, x ^ y, ~x, lax.population_count(x)),
        *(lax.shift_left(x, y), lax.shift_right_logical(x, y), lax.shift_right_arithmetic(x, y)),
        *(x.astype(other) for other in (I32, U32, I8, U8, F32, BOOL)),
        lax.clamp(y, x, jnp.asarray(7, x.dtype)),
    )


def floats(x: Array, y: Array, xs: Array, ys: Array) -> tuple[Array, ...]:
    return (
        *(*arithmetic(x, y), *comparison(x, y), *comparison(xs, ys)),
        *(x / y, jnp.floor(x), jnp.ceil(x), lax.sqrt(x), jnp.isfinite(x), x.astype(I32), x.astype(U32)),
    )


OPERATIONS: dict[str, tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = {
    **{np.dtype(each).name: (integers, ((each,), (each,), (each, 30), (each, 30))) for each in (I32, U32, I8, U8)},
    "float32": (floats, ((F32,), (F32,), (F32, 30), (F32, 30))),
    "flags": (lambda x, y: (x & y, x | y, ~x, jnp.where(x, y, ~y), x.any(), y.all(), x.astype(I32)), ((BOOL, 20),) * 2),
    "folds": (
        lambda x: (x.sum(0), x.sum(), x.max(1), x.min(), x.argmax(0), x.argmin(1), jnp.bitwise_or.reduce(x), x.prod()),
        ((I32, 4, 6),),
    ),
    "one and none": (
        lambda x: (x[:0].sum(0), x[:0].sum(), jnp.pad(x[0, :1], (1, 1)), lax.concatenate([x[:1], x[:0]], 0)),
        ((I32, 4, 6),),
    ),
    "exchanged": (
        lambda x, y: lax.fori_loop(0, 3, lambda i, s: (s[1], s[0], s[2] + s[0].sum(), s[0][0]), (x, y, y[0], x[1])),
        ((I32, 40), (I32, 40)),
    ),
    "cumulated": (lambda x: (x.cumsum(0), lax.cummax(x, 1, reverse=True), lax.cumprod(x)), ((I32, 5, 7),)),
    "arranged": (
        lambda x: (
            *(x.T, x[::-1, 1:5:2], x.reshape(7, 5)[:, None], jnp.roll(x, 2, 0), jnp.repeat(x, 2, 1)),
            *(jnp.pad(x, 2), jnp.stack([x, x + 1], 1), jnp.split(x, 5), lax.pad(x, 3, [(-1, 2, 1), (1, -2, 0)])),
            *(jnp.broadcast_to(x[:, :1], (5, 9)) + jnp.arange(9), jnp.concatenate([x[0], x[1, :2]])),
        ),
        ((I32, 5, 7),),
    ),
    "looked up": (
        lambda x, i: (
            *(x[i], x[i, 2], x[1, i], x[:, i % 7], jnp.take(x, i, axis=1), x.at[i].get(mode="clip")),
            *(jnp.take_along_axis(x, i[None, None] % 5, 0), lax.dynamic_slice(x, (i, i), (2, 3))),
            jnp.asarray([3, 1, 4, 1, 5])[i],
        ),
        ((I32, 5, 7), (I8,)),
    ),
    "written": (
        lambda x, i, y: (
            *(x.at[i].set(y[:7]), x.at[i, i].add(3), x.at[:, i].multiply(2), x.at[y].max(4), x.at[y, y].add(y)),
            *(x.at[i].set(1, mode="clip"), lax.dynamic_update_slice(x, x[:2, 1:4] + 1, (i, i))),
        ),
        ((I32, 5, 7), (I8,), (I8, 12)),
    ),
    "loops": (
        lambda x, y: (
            lax.while_loop(lambda s: s[0] < 20, lambda s: (s[0] + 1 + (s[1][0] & 3), s[1][::-1] + s[0]), (y & 7, x)),
            lax.fori_loop(0, 5, lambda i, s: (s[1], s[0] + i), (x, -x)),
            lax.scan(lambda s, row: (s + row, (s, row * 2)), x, jnp.arange(36, dtype=I32).reshape(3, 12)),
            lax.scan(lambda s, e: (s + e, s), y, x, reverse=True),
            lax.cond(y > 0, lambda: (x, y), lambda: (x * 2, -y)),
            lax.switch(y, [lambda: x, lambda: x[::-1], lambda: x + 1]),
        ),
        ((I32, 12), (I32,)),
    ),
}


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_gives_what_xla_gives(operation: str) -> None:
    function, kinds = OPERATIONS[operation]
    args = [numbers(*kind) for kind in kinds]
    shapes = [jax.ShapeDtypeStruct(arg.shape[1:], arg.dtype) for arg in args]
    closed, _, reads = traced(lambda prices, *args: function(*args), jax.ShapeDtypeStruct((1,), jnp.int32), *shapes)
    run = playing(closed)
    expected = jax.tree.leaves(jax.jit(jax.vmap(function))(*args))
    for number, (one, other) in enumerate(
        zip(jax.jit(run)(*([PRICES, *args][place] for place in reads)), expected, strict=True)
    ):
        assert same_bits(one, other), f"result {number}"


def same_bits(one: Any, other: Any) -> bool:  # noqa: ANN401 - arrays
    return (one.shape, one.dtype) == (other.shape, other.dtype) and np.asarray(one).tobytes() == np.asarray(
        other
    ).tobytes()


@pytest.mark.parametrize(
    "env",
    [
        *(OrchardJaxEnv(), env_of(MODES["proxy_mortal"])),
        *(pytest.param(env, marks=pytest.mark.long) for env in (env_of(MODES["ground_truth"]), ENV)),
    ],
    ids=lambda env: env.name,
)
def test_a_world_plays_the_same_games(env: JaxEnv, tmp_path: Path) -> None:
    """On the processor and, thread after thread, by the kernels for NVIDIA GPUs (`tests/compilers` compiles these)."""
    native, seeds = native_env(env), jnp.asarray(env.initial_seeds(5, GAMES))
    states = [jax.jit(jax.vmap(each.reset))(seeds) for each in (env, native)]
    assert_equal(*states)
    masks = jax.jit(jax.vmap(env.mask))(states[0])
    prices = np.array(env.prices) + np.arange(len(env.prices), dtype=np.int32)
    plays = [jax.jit(lambda prices, *args, env=each: _step(env.with_prices(prices), *args)) for each in (env, native)]
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape[1:], leaf.dtype), states[0])
    numbers = [jax.ShapeDtypeStruct(shape, jnp.int32) for shape in (prices.shape, ())]
    closed, _, reads = traced(partial(_one_step, env), numbers[0], shapes, numbers[1])
    assert len(reads) == 2 + len(jax.tree.leaves(shapes))
    kernels = cuda.kernels(closed, tuple(range(len(closed.out_avals))))
    rare = ended = 0
    for number in range(60):
        wrong = RNG.random(GAMES) < 0.02
        chances = RNG.random(masks.shape) * (np.asarray(masks) + 1e-9)
        actions = np.where(wrong, number % env.num_actions, chances.argmax(1)).astype(np.int32)
        found = [play(prices, state, actions) for play, state in zip(plays, states, strict=True)]
        assert_equal(*found)
        # states are played in place, and the same element of all games is contiguous
        own = [_rows(leaf) for leaf in jax.tree.leaves(states[0])]
        results = [*own, *(np.zeros((*leaf.shape, GAMES), leaf.dtype) for leaf in closed.out_avals[len(own) :])]
        rare += play_kernels(kernels, tmp_path, [prices, *own, actions], results)
        assert_equal(results, [*map(_rows, jax.tree.leaves(found[0][:3]))])
        step, _, masks, *_ = found[0]
        states, ended = [each[0].state for each in found], ended + int((step.terminated | step.truncated).sum())
    assert rare >= ended > 0


PROCESSOR = r"""
#include <math.h>
#define __device__
#define __global__
#define __forceinline__
#define __shared__ static
#define __launch_bounds__(threads)
#define __ballot_sync(mask, x) (x)
#define __syncwarp()
#define __popc __builtin_popcount
#define __popcll __builtin_popcountll
static struct { unsigned x; } blockIdx, threadIdx, gridDim;
"""
"""What a kernel finds on a GPU, for one thread at a time."""


def play_kernels(
    kernels: cuda.Kernels, folder: Path, leaves: list[NDArray[Any]], results: list[NDArray[Any]], blocks: int = 7
) -> int:
    """Play one step, as ``cuda.call`` has XLA do it; gives the number of games that wanted rare work."""
    sizes = np.array([GAMES, 1, 0], np.uint32)
    saved = [np.zeros((*leaf.shape, GAMES), leaf.dtype) for leaf in kernels.saved]
    play(kernels.first, folder, 1, 128, *leaves, sizes, *results, *saved)
    assert kernels.rest
    changed = [results[place] for place in kernels.changed]
    play(kernels.rest, folder, blocks, 1, *changed, *saved, sizes, *changed)
    return int(saved[0].sum())


def play(kernel: cuda.CudaKernel, folder: Path, blocks: int, threads: int, *arrays: NDArray[Any]) -> None:
    """Play a kernel, one thread after another."""
    library = folder / f"{kernel.name}.so"
    if not library.exists():
        parameters = kernel.source.partition("#define PARAMETERS ")[2].partition("\n")[0]
        names = ", ".join(each.rpartition(" ")[2].lstrip("*") for each in parameters.split(", "))
        source = f"{PROCESSOR}{kernel.source}".replace("#define THREADS 32", "#define THREADS 1") + (
            f"\nvoid run(u32 blocks, u32 threads, {parameters}) {{ gridDim.x = blocks;"
            "for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)"
            f"for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) {kernel.name}({names}); }}\n"
        )
        (folder / "kernel.c").write_text(source)
        command = cpu.command()
        assert command
        words = ["-O0" if word == "-O2" else word for word in command if word != "-fvisibility=hidden"]
        subprocess.run([*words, "-o", str(library), str(folder / "kernel.c"), "-lm"], check=True)
    ctypes.CDLL(str(library)).run(blocks, threads, *(ctypes.c_void_p(array.ctypes.data) for array in arrays))


def test_games_that_are_split_over_devices_are_translated() -> None:
    reset = native_env(ENV).reset
    mesh = Mesh(np.array(jax.devices()[:1]), (parallel.GAMES,))
    jax.jit(parallel.over_games(reset, mesh)).trace(jnp.asarray(ENV.initial_seeds(5, GAMES)))


def test_engines_of_hackmatrix_play_the_same_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """At other prices than its own; XLA plays where marks are counted, by the programs of other tests."""
    monkeypatch.setenv(VARIABLE, AUTO)
    games, prices = 64, tuple(np.asarray(ENV.prices) + 3)
    engines = xla, native = [JaxEngine(games, ENV, prices=prices, marks=marks) for marks in (True, False)]
    assert is_native(native._env)
    masks, slots = jax.jit(jax.vmap(ENV.mask)), np.arange(games)
    seeds = RNG.integers(0, 2**63, games, np.uint64)
    assert_equal(*(engine.reset(seeds, slots) for engine in engines))
    rng, has_ended = np.random.default_rng(0), False
    for _ in range(60):
        assert_equal(*([engine.states, engine.mask(), engine.seeds(), engine.facts()] for engine in engines))
        assert_equal(masks(xla.states), native.mask())
        actions = choose(xla.mask(), rng, 0.02).astype(np.int32)
        one, other = xla.step(actions), native.step_restarting(actions)
        ended = np.flatnonzero(one.terminated)
        observation = one.observation.copy()
        if ended.size:
            has_ended, observation[ended] = True, xla.restart(ended)
        assert_equal({**vars(one), "observation": observation}, vars(other))
    assert has_ended


def test_what_has_no_translation_is_left_to_xla_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Wavy(OrchardJaxEnv):
        def mask(self, state: Any) -> Array:  # noqa: ANN401 - states
            return super().mask(state) & (jnp.sin(state.turn) < 2)

    monkeypatch.setenv(VARIABLE, AUTO)
    env = Wavy()
    shapes = jax.eval_shape(env.reset, jax.ShapeDtypeStruct((2,), jnp.uint32))
    states = jax.tree.map(lambda leaf: jnp.ones((3, *leaf.shape), leaf.dtype), shapes)
    assert_equal(*(jax.jit(jax.vmap(each.mask))(states) for each in (on_backend(env), env)))
    assert capsys.readouterr().err == "orchard: XLA compiles mask, since there is no translation of sin.\n"
    monkeypatch.setenv(VARIABLE, NATIVE)
    with pytest.raises(UsageError, match="no translation of sin: choose --engine-backend auto"):
        jax.vmap(on_backend(env).mask)(states)


def closed_of(function: Callable[..., Any]) -> ClosedJaxpr:
    """The jaxpr of a function of prices (1,) and a number."""
    return traced(function, *(jax.ShapeDtypeStruct(shape, jnp.int32) for shape in ((1,), ())))[0]


def test_a_program_that_cannot_be_compiled_is_refused_where_it_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu, "source_of", lambda game: "#error out of order\n")
    closed = closed_of(lambda prices, x: prices[0] - x * 77)
    games = jnp.ones(1, jnp.int32), jnp.arange(3, dtype=jnp.int32)
    with cpu.deferred() as sources:
        jax.jit(playing(closed)).lower(*games)
    (source,) = sources
    for need in (lambda: cpu.start(source).result(), lambda: jax.jit(lambda *args: playing(closed)(*args))(*games)):
        with pytest.raises(UsageError, match=r"cannot compile the engine .*: name another in CC"):
            need()


def test_a_kernel_that_nvrtc_does_not_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    library = SimpleNamespace(nvrtcCreateProgram=lambda *_: 1, nvrtcDestroyProgram=lambda _: 0)
    monkeypatch.setattr(cuda, "_library", lambda: library)
    with pytest.raises(
        UsageError, match=r"^NVRTC cannot compile the engine \(code 1\): choose --engine-backend xla\.$"
    ):
        cuda.compiled("")


@pytest.mark.parametrize("damage", [b"", b"\x7fELF", None])
def test_a_damaged_program_of_the_cache_is_compiled_again(
    damage: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cpu.fault() is None  # what calls programs lies in another folder
    monkeypatch.setattr(program_cache, "cache_folder", lambda: tmp_path)
    factor = 3 if damage is None else 5 + len(damage)
    closed = closed_of(lambda prices, x: prices[0] * factor - x)
    path = cpu._cached(cpu.source_of(translate(closed)))
    assert path
    path.parent.mkdir()
    if damage is not None:
        path.write_bytes(damage)
    found = jax.jit(playing(closed))(jnp.full(1, 2, jnp.int32), jnp.arange(3, dtype=jnp.int32))
    assert found[0].tolist() == [2 * factor, 2 * factor - 1, 2 * factor - 2]
    assert [*path.parent.iterdir()] == [path]
    assert program_cache.read(path)


def _step(env: JaxEnv, states: Any, actions: Array) -> Any:  # noqa: ANN401 - states
    step = jax.vmap(env.step_autoreset)(states, actions)
    shown = (jax.vmap(show)(step.state) for show in (env.compact, env.mask, env.observe))
    return step, *shown, jax.vmap(env.step)(states, actions)


def _one_step(env: JaxEnv, prices: Array, state: Any, action: Array) -> Any:  # noqa: ANN401 - states
    step = env.with_prices(prices).step_autoreset(state, action)
    return step, env.compact(step.state), env.mask(step.state)


def _rows(leaf: Array) -> NDArray[Any]:
    return np.array(np.moveaxis(np.asarray(leaf), 0, -1), order="C")


def assert_equal(one: Any, other: Any) -> None:  # noqa: ANN401 - trees of arrays
    for (path, left), right in zip(jax.tree_util.tree_leaves_with_path(one), jax.tree.leaves(other), strict=True):
        assert same_bits(left, right), jax.tree_util.keystr(path)
