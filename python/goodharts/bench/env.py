"""Benchmark of each engine with random actions, in steps per second."""

import time
from collections.abc import Iterator

import numpy as np
import torch

from goodharts.env import env_of
from goodharts.rules import ACTIONS, DEFAULT_MODE, MODES
from goodharts.torch_env.env import Games
from goodharts.torch_env.observation import observation_of
from goodharts.torch_env.random import game_keys
from goodharts.torch_env.tables import channels
from rlparity import World
from rlparity.core.prices import price_values
from rlworldkit.bench.env import STEPS_PER_CALL, compiled
from rlworldkit.bench.records import Record, plain_record
from rlworldkit.bench.timing import alone

STEPS = 200
"""Of every game in a sample of the torch engine, at least."""
STEPS_OF_ALL = 200_000
"""Of all games together in such a sample, at least: few games take short steps."""

_MODE = MODES[DEFAULT_MODE]


def measure(world: World, num_envs: int, repetitions: int) -> Iterator[Record]:
    """``env_steps_per_second_torch`` and ``…_jax``: steps of all games a second in mode ground_truth.

    Both play random actions; every observation is written as the float32 that a network reads, and games that end start
    anew in the same step. The torch engine plays on the CPU with torch's threads, the JAX engine as that of any world
    (``rlworldkit.bench.env``). First samples warm up and are not counted.
    """
    prices = price_values(world)
    games = Games(_MODE, num_envs, prices=prices)
    games.start(game_keys(0, num_envs))
    samples = [_play(games) for _ in range(1 + repetitions)][1:]
    yield plain_record("env_steps_per_second_torch", num_envs, samples)
    program = compiled(env_of(_MODE).with_prices(np.array(prices, np.int32)), num_envs)
    yield alone("env_steps_per_second_jax", num_envs, program, STEPS_PER_CALL * num_envs, repetitions)


def _play(games: Games) -> float:
    steps = max(STEPS, -(-STEPS_OF_ALL // games.games))
    shows = torch.tensor(channels(games.mode, games.numbers), device=games.device)
    start = time.perf_counter()
    for _ in range(steps):
        outcome = games.step(torch.randint(len(ACTIONS), (games.games,), device=games.device))
        codes, ended = outcome.codes, (outcome.terminated | outcome.truncated).nonzero()[:, 0]
        if len(ended):
            codes[ended] = games.restart(ended)
        observation_of(codes, shows)
    return games.games * steps / (time.perf_counter() - start)
