"""Trains on the devices that this process has, or shares with others, and writes the metrics and the state.

Arguments: the file to write, a coordinator's address or -, the number of processes, this process's number.
"""

import dataclasses
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from hackmatrix.purejaxrl import parallel

if __name__ == "__main__":
    output, coordinator, processes, number = sys.argv[1:5]
    if coordinator != "-":
        parallel.join_processes(coordinator, int(processes), int(number))

    import jax

    from hackmatrix.purejaxrl.checkpointing import read_checkpoint, restored, save_checkpoint
    from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
    from hackmatrix.purejaxrl.progress import Progress
    from hackmatrix.purejaxrl.training_loop import StopRequest, compile_training, run_training
    from tests.purejaxrl import free_engine
    from tests.purejaxrl.conftest import SMALL

    class Recorder:
        """Keeps the metrics."""

        def __init__(self) -> None:
            self.rows: list[dict[str, float]] = []

        def write(self, metrics: Mapping[str, float]) -> None:
            """Keep a row."""
            self.rows.append(dict(metrics))

    path = Path(output)
    config = dataclasses.replace(SMALL, total_timesteps=40 * SMALL.batch_size)
    env = HackMatrixGymnax(engine=free_engine, mesh=parallel.mesh_of_all_devices(config.num_envs))
    compiled = compile_training(config, env)
    recorder = Recorder()
    half = dataclasses.replace(config, total_timesteps=20 * SMALL.batch_size)
    result = run_training(compiled, half, env, [recorder], StopRequest())
    save_checkpoint(path, result.runner, result.progress, dataclasses.asdict(config))
    if processes != "1":
        # the others read what the first has written
        jax.experimental.multihost_utils.sync_global_devices("written")
    runner, _ = restored(read_checkpoint(path), path, compiled.runner)
    progress = Progress(20, 20 * SMALL.batch_size, 1.0)
    result = run_training(compiled._replace(runner=runner), config, env, [recorder], StopRequest(), progress)
    save_checkpoint(path, result.runner, result.progress, dataclasses.asdict(config))
    if parallel.is_first_process():
        rows = [{name: value for name, value in row.items() if not np.isnan(value)} for row in recorder.rows]
        path.with_suffix(".json").write_text(json.dumps({"devices": len(jax.devices()), "rows": rows}))
