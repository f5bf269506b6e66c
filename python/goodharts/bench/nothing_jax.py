"""Games in JAX that do nothing, and the trainers that are measured with them."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from goodharts.config import Config
from goodharts.jax_env.state import State
from goodharts.jax_training import CompactObservation, GoodhartsJaxEnv
from goodharts.rules import DEFAULT_MODE, MODES, Mode
from goodharts.training.jax_ppo.trainer import JaxTrainer
from worldkit.jaxkit.env import StepOutput
from worldkit.jaxkit.wide import Wide


class Still(NamedTuple):
    """The first moment of a game, and what it showed."""

    game: State
    seen: CompactObservation

    @property
    def steps(self) -> Wide:
        """Of this life."""
        return self.game.steps


class NothingGames(GoodhartsJaxEnv):
    """The first moment of some games for ever: no world, no ends, no rewards."""

    def __init__(self, mode: Mode) -> None:
        super().__init__(mode)
        self.name = f"nothing of {self.name}"

    def reset(self, seed: Array) -> Still:  # type: ignore[override]  # a state is the world's own affair
        game = super().reset(seed)
        return Still(game, super().compact(game))

    def compact(self, state: Still) -> CompactObservation:  # type: ignore[override]
        return state.seen

    def step_autoreset(self, state: Still, action: Array, truncate: Array | None = None) -> StepOutput:  # type: ignore[override]
        never, nothing = jnp.array(False), jnp.zeros(len(self.components), jnp.int32)
        return StepOutput(state, jnp.float32(0), nothing, never, never, state, dict.fromkeys(self.events, never))


def jax_trainers(config: Config, cpu_steps: int | None) -> tuple[JaxTrainer, JaxTrainer]:
    """A trainer, and one whose games do nothing. cpu_steps: of a game in a rollout on a CPU; None leaves it be."""
    if jax.default_backend() == "cpu" and cpu_steps:
        config = config.over({"training": {"steps_per_env": cpu_steps}}, "The benchmark")
    return JaxTrainer(DEFAULT_MODE, config), JaxTrainer(DEFAULT_MODE, config, NothingGames(MODES[DEFAULT_MODE]))
