"""What the compilers of accelerators make of the programs, without an accelerator: `make test-long` installs them.

Each target is a process, since a process has one TPU library, and the project's own has neither.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = ROOT / ".cache" / "compilers"
MEBIBYTE = 2**20

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not (COMPILERS / "jax_plugins").is_dir(), reason="needs the compilers that `make test-long` installs, on Linux"
    ),
]

NO_LOOPS_NOR_INDEXING = dict.fromkeys(("while", "conditional", "gather", "scatter"), 0)
MOST: dict[str, dict[str, dict[str, int]]] = {
    # of h200: what the host starts one by one, each loop and branch with a copy from the device that it waits for
    "h200": {
        "step": {"fusion": 198, "while": 17, "conditional": 5, "gather": 35, "scatter": 34, "MiB": 160},
        # mask, step, rare work and compact observation; the rest chooses actions and adds up what is seen
        "native-step": NO_LOOPS_NOR_INDEXING | {"custom-call": 4, "fusion": 6, "MiB": 150},
        "native-rollout": {"custom-call": 4, "while": 1, "conditional": 0, "scatter": 0, "MiB": 205},
        # loops over updates, steps, advantages, epochs and minibatches
        "native-update": {"custom-call": 5, "while": 5, "conditional": 0, "scatter": 0, "MiB": 195},
    },
    "v5e": {"update": {"while": 20, "conditional": 2, "gather": 18, "scatter": 34, "MiB": 221}},
    "v6e": {"update": {"while": 20, "conditional": 2, "gather": 18, "scatter": 34, "MiB": 298}},
}
"""The most instructions of a kind outside of kernels, gathers and scatters anywhere, and memory."""
GAMES = {"step": 65536, "native-step": 65536}


def run(*words: str) -> str:
    """Run Python with the compilers."""
    path = os.pathsep.join([str(ROOT), *sys.path, str(COMPILERS)])
    environment = {**os.environ, "PYTHONPATH": path, "JAX_DISABLE_MOST_OPTIMIZATIONS": "false"}
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("target", MOST)
def test_programs_ask_the_host_for_nothing_that_they_need_not(target: str) -> None:
    words = [f"{program}:mlp:{GAMES.get(program, 2048)}" for program in MOST[target]]
    for line in run("-m", "tests.compilers.programs", target, *words).splitlines():
        record: dict[str, Any] = json.loads(line)
        found = {**record["counts"], **record["indexing"], "MiB": record["bytes"] / MEBIBYTE}
        most = MOST[target][record["program"]]
        assert {name: found.get(name, 0) for name in most if found.get(name, 0) > most[name]} == {}, record


RESOURCES = """
import sys, jax
from hackmatrix.env import ENV
from rlworldkit.jax.native import cuda, program
state = jax.eval_shape(ENV.reset, jax.ShapeDtypeStruct((2,), "uint32"))
shapes = jax.ShapeDtypeStruct(ENV.prices.shape, "int32"), state, jax.ShapeDtypeStruct((), "int32")
step = lambda prices, *args: ENV.with_prices(prices).step_autoreset(*args)
closed = program.traced(step, *shapes)[0]
made = cuda.kernels(closed, tuple(range(len(jax.tree.leaves(state)) + 1)))
for kernel in (made.first, made.rest):
    print(cuda.compiled(kernel.source, "--gpu-architecture=sm_90a", "--ptxas-options=-v")[1])
"""


def test_the_kernels_of_a_step_fit_the_registers_of_a_thread() -> None:
    """One that spills reads and writes memory: the play kernel may do so a little, that of rare work not at all."""
    log = run("-c", RESOURCES)
    kernel = r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
    found = {name: (int(spilled), int(used)) for name, spilled, used in re.findall(kernel, log, re.DOTALL)}
    assert found.keys() == {"play", "play_rare"}, log
    assert found["play"][0] <= 760
    assert found["play_rare"][0] == 0
