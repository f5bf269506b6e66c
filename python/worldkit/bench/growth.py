"""How speed and memory grow with the games and with the devices that play them."""

import dataclasses
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from worldkit.bench.processes import spent
from worldkit.bench.records import Record

GAMES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
DEVICES = (1, 2, 4, 8)
_DEVICES_FLAG = "--xla_force_host_platform_device_count"


def measure(module: str, num_envs: int, repetitions: int) -> Iterator[Record]:
    """``env_steps_per_second_devices_N``: ``bench env`` of this world, each time in a process of its own.

    One device plays ``GAMES`` games; ``DEVICES`` devices play ``num_envs``. Several devices are made of the one
    processor, so that they show what splitting costs, not what further processors bring. ``peak_bytes`` is the most
    memory that the process held at once, compiling included.

    Raises:
        ParityError: a process failed.
    """
    points = {(games, 1): None for games in GAMES} | {(num_envs, devices): None for devices in DEVICES}
    for games, devices in points:
        yield _measured(module, games, devices, repetitions)


def _measured(module: str, games: int, devices: int, repetitions: int) -> Record:
    flags = f"{os.environ.get('XLA_FLAGS', '')} {_DEVICES_FLAG}={devices}".strip()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "records.json"
        words = ("bench", "env", "--num-envs", f"{games}", "--repetitions", f"{repetitions}", "--json", f"{answer}")
        environment = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
        took = spent((module, *words), Path(folder) / "output", environment)
        (record,) = (Record(**each) for each in json.loads(answer.read_text()))
    return dataclasses.replace(record, name=f"{record.name}_devices_{devices}", peak_bytes=took.peak_bytes)
