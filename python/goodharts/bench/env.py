"""How many steps a second the torch engine makes with random actions."""

import time

import torch

from goodharts.rules import ACTIONS, DEFAULT_MODE, MODES
from goodharts.torch_env.env import Games
from goodharts.torch_env.observation import shown
from goodharts.torch_env.random import game_keys
from goodharts.torch_env.tables import channels
from worldkit.bench.records import Record, plain_record

STEPS = 200
"""Of every game in a sample, at least."""
STEPS_OF_ALL = 200_000
"""Of all games together in a sample, at least: few games take short steps."""


def measure(num_envs: int, repetitions: int) -> list[Record]:
    """``env_steps_per_second``: steps of all games a second in mode ground_truth, on the CPU with torch's threads.

    Random actions; every observation is written as the float32 that a network reads, and games that end start anew in
    the same step. A first sample warms up and is not counted. Memory is not measured.
    """
    games = Games(MODES[DEFAULT_MODE], num_envs)
    games.start(game_keys(0, num_envs))
    samples = [_play(games) for _ in range(1 + repetitions)][1:]
    return [plain_record("env_steps_per_second", num_envs, samples)]


def _play(games: Games) -> float:
    steps = max(STEPS, -(-STEPS_OF_ALL // games.games))
    shows = torch.tensor(channels(games.mode, games.numbers), device=games.device)
    start = time.perf_counter()
    for _ in range(steps):
        outcome = games.step(torch.randint(len(ACTIONS), (games.games,), device=games.device))
        codes, ended = outcome.codes, (outcome.terminated | outcome.truncated).nonzero()[:, 0]
        if len(ended):
            codes[ended] = games.restart(ended)
        shown(codes, shows)
    return games.games * steps / (time.perf_counter() - start)
