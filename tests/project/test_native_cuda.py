"""Kernels for NVIDIA GPUs, played thread after thread on the processor: the same bits as the processor's own program.

What NVRTC makes of them is in tests/compilers.
"""

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from orchard.env import OrchardJaxEnv

from goodharts.env import env_of
from goodharts.rules import MODES
from hackmatrix.env import ENV
from rlworldkit.bench.env import random_valid_actions
from rlworldkit.jax.env import JaxEnv, StepOutput
from rlworldkit.jax.native import cpu, cuda
from rlworldkit.jax.native.env import native_env
from rlworldkit.jax.native.program import traced

pytestmark = pytest.mark.skipif(cpu.command() is None, reason="needs a C compiler")

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
GAMES, BLOCKS = 50, 7


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


def played(made: cuda.Kernels, folder: Path, leaves: list[NDArray[Any]], results: list[NDArray[Any]]) -> int:
    """Play one step, as ``cuda.call`` has XLA do it; gives the number of games that wanted rare work."""
    sizes = np.array([GAMES, 1, 0], np.uint32)
    saved = [np.zeros((*leaf.shape, GAMES), leaf.dtype) for leaf in made.saved]
    play(made.first, folder, 1, 128, *leaves, sizes, *results, *saved)
    assert made.rest
    changed = [results[place] for place in made.changed]
    play(made.rest, folder, BLOCKS, 1, *changed, *saved, sizes, *changed)
    return int(saved[0].sum())


@pytest.mark.parametrize(
    "env",
    [OrchardJaxEnv(), *(pytest.param(env, marks=pytest.mark.long) for env in (env_of(MODES["proxy_mortal"]), ENV))],
    ids=lambda env: env.name,
)
def test_kernels_play_the_same_games(env: JaxEnv, tmp_path: Path) -> None:
    """The states of the games are played in place, and the games next to each other."""

    def step(prices: Any, state: Any, action: Any) -> tuple[StepOutput, Any, Any]:  # noqa: ANN401 - arrays and states
        out = env.with_prices(prices).step_autoreset(state, action)
        return out, env.mask(out.state), env.compact(out.state)

    native = native_env(env)
    state = jax.eval_shape(env.reset, jax.ShapeDtypeStruct((2,), jnp.uint32))
    shapes = [jax.ShapeDtypeStruct(shape, jnp.int32) for shape in (np.shape(env.prices), ())]
    closed, _, reads = traced(step, shapes[0], state, shapes[1])
    assert len(reads) == 2 + len(jax.tree.leaves(state))
    made = cuda.kernels(closed, tuple(range(len(closed.out_avals))))

    @jax.jit
    def expected(states: Any, actions: Any) -> Any:  # noqa: ANN401 - states
        out = jax.vmap(native.step_autoreset)(states, actions)
        return out, jax.vmap(native.mask)(out.state), jax.vmap(native.compact)(out.state)

    states = jax.jit(jax.vmap(native.reset))(jnp.asarray(env.initial_seeds(3, GAMES)))
    masks, rare, ended = jax.vmap(native.mask)(states), 0, 0
    for number in range(120):
        actions = random_valid_actions(jax.random.key(number), masks)
        own = [_rows(leaf) for leaf in jax.tree.leaves(states)]
        others = [np.zeros((*leaf.shape, GAMES), leaf.dtype) for leaf in closed.out_avals[len(own) :]]
        prices = np.array(env.prices, np.int32)
        rare += played(made, tmp_path, [prices, *own, np.array(actions)], [*own, *others])
        after = expected(states, actions)
        for place, (one, other) in enumerate(zip([*own, *others], jax.tree.leaves(after), strict=True)):
            assert one.tobytes() == _rows(other).tobytes(), f"result {place} of step {number}"
        ended += int((after[0].terminated | after[0].truncated).sum())
        states, masks = after[0].state, after[1]
    assert rare >= ended > 0


def _rows(leaf: Any) -> NDArray[Any]:  # noqa: ANN401 - an array
    return np.array(np.moveaxis(np.asarray(leaf), 0, -1), order="C")
