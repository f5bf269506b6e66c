"""How many steps a second each engine makes with random actions."""

import time
from collections.abc import Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp
import torch

from goodharts.jax_env.env import Game
from goodharts.jax_env.state import State
from goodharts.jax_env.tables import Variant
from goodharts.rules import ACTIONS, DEFAULT_MODE, MODES, OBSERVATION_SHAPE
from goodharts.torch_env.env import Games
from goodharts.torch_env.observation import shown
from goodharts.torch_env.random import game_keys
from goodharts.torch_env.tables import channels
from worldkit.bench.records import Record, plain_record
from worldkit.bench.timing import alone, compile_program
from worldkit.jaxkit.threefry import Seed, trainer_seeds

STEPS = 200
"""Of every game in a sample of the torch engine, at least."""
STEPS_OF_ALL = 200_000
"""Of all games together in such a sample, at least: few games take short steps."""
STEPS_PER_CALL = 128
"""Of every game in a call of the JAX engine's program, which is a rollout of training."""

_MODE = MODES[DEFAULT_MODE]


def measure(num_envs: int, repetitions: int) -> Iterator[Record]:
    """``env_steps_per_second_torch`` and ``…_jax``: steps of all games a second in mode ground_truth.

    Both play random actions; every observation is written as the float32 that a network reads, and games that end start
    anew in the same step. The torch engine plays on the CPU with torch's threads. The JAX engine plays in one compiled
    scan on JAX's device, where every observation is multiplied by a vector besides, a network's first layer in little,
    since XLA would not compute what nobody reads. First samples warm up and are not counted. ``peak_bytes`` is XLA's
    plan for the scan.
    """
    yield _measure_torch(num_envs, repetitions)
    yield _measure_jax(num_envs, repetitions)


def _measure_torch(num_envs: int, repetitions: int) -> Record:
    games = Games(_MODE, num_envs)
    games.start(game_keys(0, num_envs))
    samples = [_play(games) for _ in range(1 + repetitions)][1:]
    return plain_record("env_steps_per_second_torch", num_envs, samples)


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


class Play(NamedTuple):
    """What one step of the JAX engine hands to the next.

    state: the games (n, …). key: of the actions. seen: float32 (n,), of all observations and rewards.
    """

    state: State
    key: jax.Array
    seen: jax.Array


def begun(num_envs: int) -> Play:
    """Games (n, …) that were not played yet."""
    state = jax.jit(jax.vmap(Game(Variant(_MODE)).reset))(Seed(*trainer_seeds(0, num_envs).T))
    return Play(state, jax.random.key(0), jnp.zeros(num_envs, jnp.float32))


def played(play: Play) -> Play:
    """``STEPS_PER_CALL`` random steps of all games later."""
    game = Game(Variant(_MODE))
    weights = jnp.linspace(0.0, 1.0, OBSERVATION_SHAPE[0] * OBSERVATION_SHAPE[1] * OBSERVATION_SHAPE[2])

    def step(play: Play, _: None) -> tuple[Play, None]:
        key, drawn = jax.random.split(play.key)
        actions = jax.random.randint(drawn, play.seen.shape, 0, len(ACTIONS))
        state, outcome = jax.vmap(game.step)(play.state, actions)
        state = jax.vmap(game.restart)(state, outcome.terminated | outcome.truncated)
        observation = jax.vmap(game.observe)(state).reshape(len(actions), -1)
        return Play(state, key, play.seen + observation @ weights + outcome.reward), None

    return jax.lax.scan(step, play, None, length=STEPS_PER_CALL)[0]


def _measure_jax(num_envs: int, repetitions: int) -> Record:
    program = compile_program(played, begun(num_envs))
    return alone("env_steps_per_second_jax", num_envs, program, STEPS_PER_CALL * num_envs, repetitions)
