"""Measure speed and memory by number of games and of devices."""

import dataclasses
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rlworldkit.bench.records import Record
from rlworldkit.bench.startup import spent
from rlworldkit.jax.xla import of_parts

GAMES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
DEVICES = (1, 2, 4, 8)


def measure(module: str, num_envs: int, repetitions: int) -> Iterator[Record]:
    """Run ``bench env`` in a process each: ``env_steps_per_second_devices_N`` and ``env_compact_…``.

    One device plays each number of ``GAMES``; each number of ``DEVICES`` plays ``num_envs`` games. Several devices are
    virtual devices of the one processor, and share its cores. ``peak_bytes`` is the peak memory of the process,
    including compilation.

    Raises:
        ParityError: a process failed.
    """
    points = {(games, 1): None for games in GAMES} | {(num_envs, devices): None for devices in DEVICES}
    for games, devices in points:
        yield from _measured(module, games, devices, repetitions)


def _measured(module: str, games: int, devices: int, repetitions: int) -> Iterator[Record]:
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "records.json"
        words = ("bench", "env", "--num-envs", f"{games}", "--repetitions", f"{repetitions}", "--json", f"{answer}")
        took = spent((module, *words), Path(folder) / "output", {"JAX_PLATFORMS": "cpu", **of_parts(devices)})
        records = [Record(**each) for each in json.loads(answer.read_text())]
    for record in records:
        yield dataclasses.replace(record, name=f"{record.name}_devices_{devices}", peak_bytes=took.peak_bytes)
