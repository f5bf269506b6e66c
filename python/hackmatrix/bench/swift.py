"""Benchmark of the Swift engine: by itself, and through the binary protocol."""

import json
import subprocess
import time

import numpy as np

from hackmatrix.swift_env import SwiftGames
from hackmatrix.swift_env.process import binary_path
from rlparity import World
from rlworldkit.bench.records import Record, plain_record

STEPS_ALONE = 1_000_000
STEPS_PER_GAME = 200


def measure(world: World, num_envs: int, repetitions: int) -> list[Record]:
    """``swift_steps_per_second`` and ``swift_protocol_steps_per_second``, both with random valid actions.

    The first is one game after another in one process on one core, without observations and at the game's own prices;
    the second ``num_envs`` games through the pipe at those of ``world``, float observations, masks and rewards
    included, the choice of actions in numpy too. Memory is not measured. Raises SwiftEngineError where the engine is
    not built.
    """
    command = [str(binary_path()), "--bench", str(STEPS_ALONE)]
    answers = [json.loads(subprocess.check_output(command)) for _ in range(repetitions)]
    with SwiftGames(np.arange(num_envs, dtype=np.uint64), prices=world.price_values) as games:
        _play(games)
        through = [_play(games) for _ in range(repetitions)]
    return [
        plain_record("swift_steps_per_second", 1, [answer["steps"] / answer["seconds"] for answer in answers]),
        plain_record("swift_protocol_steps_per_second", num_envs, through),
    ]


def _play(games: SwiftGames) -> float:
    rng = np.random.default_rng(0)
    mask = games.observe().mask
    start = time.perf_counter()
    for _ in range(STEPS_PER_GAME):
        valid = mask.cumsum(axis=1)
        drawn = (rng.random(games.num_games) * valid[:, -1]).astype(valid.dtype)
        games.send_step((valid > drawn[:, None]).argmax(axis=1).astype(np.int32), auto_reset=True)
        mask = games.receive_step().mask
    return games.num_games * STEPS_PER_GAME / (time.perf_counter() - start)
