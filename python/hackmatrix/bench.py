"""Benchmark of the Swift engine, and HackMatrix's commands in the benchmark of startup times."""

import json
import subprocess
import time

import numpy as np

from hackmatrix.swift_env import SwiftEngine
from hackmatrix.swift_env.process import binary_path
from rlparity import EngineOptions, World
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.bench.startup import OUTPUT, Start

STEPS_ALONE = 1_000_000
STEPS_PER_GAME = 200
_COMMAND = "hackmatrix.cli.main"
STARTS = (
    Start("explain", (_COMMAND, "explain", "--seed", "0", "--actions", "left,down,left"), games=1),
    Start(
        "first_board",
        (_COMMAND, "watch", "{agent}", "--render", "ansi", "--seed", "0", "--max-steps", "1"),
        games=1,
        is_there=lambda folder: b"the game begins" in (folder / OUTPUT).read_bytes(),
    ),
    Start(
        "parity_run",
        ("rlparity", "run", "--world", "hackmatrix", "--games", "8", "--steps", "32", "--out", "{folder}"),
        games=8,
    ),
)


def measure(world: World, num_envs: int, repetitions: int) -> list[Record]:
    """``swift_steps_per_second`` and ``swift_protocol_steps_per_second``, both with random valid actions.

    The first plays one game after another in one process on one core, without observations, at the default prices. The
    second plays ``num_envs`` games through the protocol at the prices of ``world``, with float observations, masks and
    rewards, and includes the choice of actions in NumPy. Memory is not measured. Raises SwiftEngineError where the
    engine is not built.
    """
    command = [str(binary_path()), "--bench", str(STEPS_ALONE)]
    answers = [json.loads(subprocess.check_output(command)) for _ in range(repetitions)]
    with SwiftEngine(num_envs, EngineOptions(prices=world.price_values)) as engine:
        engine.reset(np.arange(num_envs, dtype=np.uint64), np.arange(num_envs))
        _play(engine)
        through = [_play(engine) for _ in range(repetitions)]
    return [
        plain_record("swift_steps_per_second", 1, [answer["steps"] / answer["seconds"] for answer in answers]),
        plain_record("swift_protocol_steps_per_second", num_envs, through),
    ]


def _play(engine: SwiftEngine) -> float:
    rng = np.random.default_rng(0)
    mask = engine.mask()
    start = time.perf_counter()
    for _ in range(STEPS_PER_GAME):
        valid = mask.cumsum(axis=1)
        drawn = (rng.random(engine.games) * valid[:, -1]).astype(valid.dtype)
        engine.begin_step((valid > drawn[:, None]).argmax(axis=1).astype(np.int32), restarting=True)
        mask = engine.receive_step().mask
    return engine.games * STEPS_PER_GAME / (time.perf_counter() - start)
