"""Games in JAX that do nothing, and the trainers that are measured with them."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from goodharts.config import Config
from goodharts.rules import DEFAULT_MODE, MODES, Mode
from goodharts.training.jax_ppo.games import Gained, Playing, Seen, Told, TrainingGames
from goodharts.training.jax_ppo.trainer import JaxTrainer
from worldkit.purejaxrl.train_env import TrainStep


class Still(NamedTuple):
    """The first moment of a game, and what it showed."""

    game: Playing
    seen: Seen


class NothingGames(TrainingGames):
    """The first moment of some games for ever: no world, no ends, no rewards."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(mode)
        self.name = f"nothing of {self.name}"

    def reset(self, seed: Array) -> Still:  # type: ignore[override]  # a state is the world's own affair
        playing = super().reset(seed)
        return Still(playing, super().compact(playing))

    def compact(self, state: Still) -> Seen:  # type: ignore[override]
        return state.seen

    def step(self, state: Still, action: Array, truncate: Array | None = None) -> TrainStep:  # type: ignore[override]
        never, nothing = jnp.array(False), jnp.zeros(len(self.components), jnp.int32)
        return TrainStep(state, jnp.float32(0), nothing, never, never, state)

    def told(self, step: TrainStep) -> Told:
        nothing, zero = jnp.float32(0), jnp.int32(0)
        return Told(step.terminated, step.terminated, jnp.uint32(0), Gained(nothing, zero, zero))


def jax_trainers(config: Config, cpu_steps: int | None) -> tuple[JaxTrainer, JaxTrainer]:
    """A trainer, and one whose games do nothing. cpu_steps: of a game in a rollout on a CPU; None leaves it be."""
    if jax.default_backend() == "cpu" and cpu_steps:
        config = config.over({"training": {"steps_per_env": cpu_steps}}, "The benchmark")
    return JaxTrainer(DEFAULT_MODE, config), JaxTrainer(DEFAULT_MODE, config, NothingGames(MODES[DEFAULT_MODE]))
