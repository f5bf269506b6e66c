"""Compile programs of HackMatrix for accelerators that are not here, and count what the compilers made of them.

    PYTHONPATH=.:.cache/compilers python -m tests.compilers.programs TARGET PROGRAM[:NETWORK[:GAMES]]...

writes a line of JSON for each program (`step`, `rollout`, `update`; with `native-` before it, with the games played by
kernels). The compilers are those of JAX's wheels for CUDA and TPUs, which `make test-long` installs; none needs one.
"""

import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

H200 = """
gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 4890000000000 l2_cache_size: 62914560
  clock_rate_ghz: 1.98 device_memory_size: 150000000000 shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 } registers_per_core_limit: 65536 registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 8 }
runtime_version { major: 12 minor: 8 patch: 0 }
device_description_str: "H200"
"""
"""What XLA's GPU compiler asks about a device."""
TARGETS = {
    "h200": ("gpu", "h200", {"target_config": H200, "topology": "1x1x1"}),
    "v5e": ("tpu", "v5e:2x2", {}),
    "v6e": ("tpu", "v6e:2x2", {}),
}
"""JAX's platform, the name of a topology and its options."""
STEP, ROLLOUT, NATIVE = "step", "rollout", "native-"
_TPU_SETTINGS = {
    "TPU_SKIP_MDS_QUERY": "1",
    "TPU_ACCELERATOR_TYPE": "v5litepod-4",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_WORKER_ID": "0",
}
_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.-]+) .*-> .*\{$")
_INSTRUCTION = re.compile(r"^  (?:ROOT )?%?[\w.-]+ = .*? ([a-z][a-z0-9-]*)\(")
_INNER = "condition|body|true_computation|false_computation|branch_computations"
_OUTSIDE = re.compile(rf"(?:{_INNER})=(\{{[^}}]*\}}|%?[\w.-]+)")
_PTX = re.compile(r'kernel_data = "[^"]*"')
_CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.-]+)")


def counts(text: str) -> Counter[str]:
    """Instructions by name that a compiled program runs one by one: those of its loops and branches, not of kernels."""
    computations, entry, lines = dict[str, list[str]](), "", list[str]()
    for line in text.splitlines():
        if found := _COMPUTATION.match(line):
            lines = computations.setdefault(found[2], [])
            entry = found[2] if found[1] else entry
        else:
            lines.append(line)
    waiting, seen, total = [entry], {entry}, Counter[str]()
    while waiting:
        for line in computations[waiting.pop()]:
            if not (found := _INSTRUCTION.match(line)):
                continue
            total[found[1]] += 1
            inner = [name for group in _OUTSIDE.findall(line) for name in re.findall(r"[\w.-]+", group)]
            inner += _CALLED.findall(line) if found[1] in ("call", "async-start") else []
            waiting += [name for name in inner if name not in seen]
            seen.update(inner)
    return total


def compiled(target: str, program: str, network: str, games: int) -> dict[str, Any]:
    """What the compiler of a target makes of a program."""
    os.environ.update(_TPU_SETTINGS, JAX_PLATFORMS="cpu")
    import jax
    from jax.experimental import topologies

    from rlworldkit.jax.target import tracing_for
    from rlworldkit.jax.xla import compiler_options

    platform, name, options = TARGETS[target]
    lowered_for = platform.replace("gpu", "cuda")
    device = topologies.get_topology_desc(name, lowered_for, **options).devices[0]
    sharding = jax.sharding.SingleDeviceSharding(device)

    with tracing_for(platform):
        function, shapes = _program(program, network, games)
        placed = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), shapes)
        start = time.process_time()
        lowered = jax.jit(function).trace(*placed).lower(lowering_platforms=(lowered_for,))
    made = lowered.compile(compiler_options=compiler_options(platform, lowered.as_text))
    memory, text = made.memory_analysis(), _PTX.sub("", made.as_text())
    used = memory.argument_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
    indexing = {kind: len(re.findall(rf" {kind}\(", text)) for kind in ("gather", "scatter")}
    return {
        "bytes": used + memory.temp_size_in_bytes,
        "seconds": round(time.process_time() - start, 1),
        "indexing": indexing,
        "counts": counts(text),
    }


def _program(program: str, network: str, games: int) -> tuple[Any, tuple[Any, ...]]:
    """A function and its arguments, as shapes."""
    import jax
    import jax.numpy as jnp

    from hackmatrix.env import ENV
    from hackmatrix.train_config import TrainConfig
    from rlworldkit.bench import env as bench
    from rlworldkit.bench.train import one_update
    from rlworldkit.jax.native.env import native_env
    from rlworldkit.ppo.ppo import collect_rollout
    from rlworldkit.ppo.program import make_train
    from rlworldkit.ppo.state import init_runner

    env = native_env(ENV) if program.startswith(NATIVE) else ENV
    program = program.removeprefix(NATIVE)
    if program == STEP:
        play = jax.eval_shape(partial(bench.new_games, ENV, games))
        return bench.one_step(env, compact=True), (play,)
    config = one_update(TrainConfig(num_envs=games, network=network))
    runner = jax.eval_shape(partial(init_runner, config, ENV))
    if program == ROLLOUT:
        return lambda runner: collect_rollout(runner, config, env), (runner,)
    return make_train(config, env), (runner, jax.ShapeDtypeStruct((), jnp.int32))


def main(arguments: Sequence[str]) -> None:
    """Compile what is asked for, one after another; a program that does not fit the device says so."""
    target, *programs = arguments
    for words in programs:
        program, network, games = [*words.split(":"), *("mlp", "2048")[words.count(":") :]]
        try:
            found = compiled(target, program, network, int(games))
        except Exception as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            found = {"exhausted": str(error).splitlines()[0]}
        record = {"target": target, "program": program, "network": network, "games": int(games), **found}
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
