"""Trains on the devices that this process has, or shares with others, and writes the metrics and the state.

Arguments: the file to write, a coordinator's address or -, the number of processes, this process's number.
"""

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rlworldkit.ppo import parallel

if __name__ == "__main__":
    output, coordinator, processes, number = sys.argv[1:5]
    if coordinator != "-":
        parallel.join_processes(coordinator, int(processes), int(number))

    import jax

    from rlworldkit.ppo.checkpoints import Log, LoopState, read_checkpoint, restored, save_checkpoint
    from rlworldkit.ppo.program import compile_training
    from rlworldkit.runs.run import Progress
    from tests.rlworldkit.ppo.conftest import LEVELLED as config
    from tests.rlworldkit.ppo.conftest import run_training
    from tests.rlworldkit.ppo.orchards import Levelled

    class KeptEnv(Levelled):
        """Its traces are kept, as those of worlds are."""

        packages = ("tests",)

    path = Path(output)
    env = KeptEnv()
    compiled = compile_training(config, env, parallel.mesh_of_all_devices(config.num_envs))
    written: list[Mapping[str, float]] = []
    start = LoopState(compiled.runners[0], Progress(), Log())
    half = dataclasses.replace(config, total_timesteps=4 * config.batch_size)
    result = run_training(compiled.train, start, half, env, write=written.append)
    save_checkpoint(path, result, dataclasses.asdict(config), env)
    if processes != "1":
        # the others read what the first has written
        jax.experimental.multihost_utils.sync_global_devices("written")
    checkpoint = read_checkpoint(path, env)
    runner = restored(checkpoint, compiled.runners[0])
    start = LoopState(runner, checkpoint.progress, checkpoint.log)
    result = run_training(compiled.train, start, config, env, write=written.append)
    save_checkpoint(path, result, dataclasses.asdict(config), env)
    if parallel.is_first_process():
        rows = [{name: value for name, value in row.items() if not np.isnan(value)} for row in written]
        path.with_suffix(".json").write_text(json.dumps({"devices": len(jax.devices()), "rows": rows}))
