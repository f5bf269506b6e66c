"""How close PPO comes to PPO on an environment that does nothing, with each engine and network."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import jax

from goodharts.architecture import NETWORKS, NetworkKind
from goodharts.bench.nothing_torch import torch_trainers
from goodharts.config import ENGINES, Config, EngineName
from goodharts.jax_training import env_of
from goodharts.rules import DEFAULT_MODE, MODES
from goodharts.training.jax_ppo.trainer import JaxTrainer
from goodharts.training.trainer import Trainer
from worldkit.bench.nothing import NothingEnv
from worldkit.bench.records import Record, plain_record

CPU_STEPS = 4
"""Of each game in a sample of the cnn on a CPU, where the documented rollout takes minutes."""


def measure(num_envs: int, repetitions: int) -> Iterator[Record]:
    """For each engine and network ``train_steps_per_second_ENGINE_NETWORK``, ``train_ceiling_…`` and their share.

    One sample is a rollout and its update with the default settings in ``num_envs`` games; the ceiling is the same in
    games that answer every step with what they showed first. The samples of both alternate, and the share
    ``train_share_of_ceiling_ENGINE_NETWORK`` is that of neighbours. All is on the device that training would choose; a
    first sample warms up and is not counted. Memory is not measured.

    On a CPU a sample's rollout with the cnn has ``CPU_STEPS`` steps of each game: all of an update, but for its
    optimizer's step and one look ahead, takes time by the step, so that fewer steps take as long each.
    """
    for engine in ENGINES:
        for network in NETWORKS:
            yield from _measure(engine, network, num_envs, repetitions)


def _measure(engine: EngineName, network: NetworkKind, num_envs: int, repetitions: int) -> list[Record]:
    training = dataclasses.replace(Config().training, engine=engine, network=network, n_envs=num_envs)
    config = dataclasses.replace(Config(), training=training)
    made = {"torch": torch_trainers, "jax": jax_trainers}[engine]
    trainers = made(config, CPU_STEPS if network == "cnn" else None)
    samples = [[_update(trainer) for trainer in trainers] for _ in range(1 + repetitions)][1:]
    share = [real / nothing for real, nothing in samples]
    name = f"{engine}_{network}"
    return [
        plain_record(f"train_steps_per_second_{name}", num_envs, [real for real, _ in samples]),
        plain_record(f"train_ceiling_steps_per_second_{name}", num_envs, [nothing for _, nothing in samples]),
        plain_record(f"train_share_of_ceiling_{name}", num_envs, share, unit=""),
    ]


def jax_trainers(config: Config, cpu_steps: int | None) -> tuple[JaxTrainer, JaxTrainer]:
    """A trainer, and one whose games do nothing. cpu_steps: of a game in a rollout on a CPU; None leaves it be."""
    if jax.default_backend() == "cpu" and cpu_steps:
        config = config.over({"training": {"steps_per_env": cpu_steps}}, "The benchmark")
    nothing = NothingEnv(env_of(MODES[DEFAULT_MODE]))
    return JaxTrainer(DEFAULT_MODE, config), JaxTrainer(DEFAULT_MODE, config, nothing)


def _update(trainer: Trainer) -> float:
    trainer.step()
    return trainer.config.batch_size / trainer.seconds.all
