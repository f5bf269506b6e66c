"""Orchard in JAX: one game as pure functions of `in_jax`, for trainers and as an engine."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from orchard import in_jax
from orchard.in_jax import Orchard
from orchard.plain import refuse_bad
from orchard.world import WORLD
from rlparity import BatchEngine, EngineOptions, State
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.env import JaxEnv, StepMetrics, StepOutput
from rlworldkit.jax.exact import divided

_SINGLE = ("walker", "wasp", "hp", "score", "turn")


class OrchardJaxEnv(JaxEnv, world=WORLD):
    """Orchard in JAX. Observations are float32 (34,) in [0, 1], actions 0-5, components in thousandths."""

    prices = np.array((-10, 100, -500), np.int32)
    marks: tuple[str, ...] = ()
    observe = staticmethod(in_jax.observation)

    def reset(self, seed: Array) -> Orchard:
        return in_jax.start(in_jax.pair(seed))

    def step(self, state: Orchard, action: Array) -> StepOutput:
        after, turn = in_jax.turn(state, action, self.prices)
        reward, never = self.reward(turn.components), jnp.bool_(False)
        return StepOutput(after, reward, turn.components, turn.terminated, never, after)

    def next_game(self, state: Orchard) -> Orchard:
        return in_jax.start(in_jax.next_seed(state))

    def reseed(self, state: Orchard, seed: Array) -> Orchard:
        return state._replace(seed=in_jax.pair(seed))

    def seed(self, state: Orchard) -> Array:
        return jnp.stack(state.seed)

    def mask(self, state: Orchard) -> Array:
        return in_jax.mask(state)

    def reward(self, components: Array) -> Array:
        return divided(components.sum(), 1000)

    def metrics(self, step: StepOutput, action: Array) -> StepMetrics:
        return StepMetrics({"actions/pick_frac": action == in_jax.PICK}, {"stats/best_score": step.final.score})

    def to_dict(self, state: Orchard) -> State:
        low, high = map(int, state.seed)
        apples = [{"cell": cell, "ripeness": int(fruit)} for cell, fruit in enumerate(state.fruit) if fruit]
        return {"seed": low + (high << 32), **{name: int(getattr(state, name)) for name in _SINGLE}, "apples": apples}

    def from_dict(self, state: State) -> Orchard:
        refuse_bad(state)
        fruit = np.zeros(in_jax.CELLS, np.int32)
        for apple in state["apples"]:
            fruit[apple["cell"]] = apple["ripeness"]
        fields: dict[str, Any] = {name: np.int32(state[name]) for name in _SINGLE}
        fields["seed"] = np.uint32(state["seed"] & 0xFFFFFFFF), np.uint32(state["seed"] >> 32)
        return Orchard(**fields, fruit=fruit)  # type: ignore[arg-type]


ENV = OrchardJaxEnv()


def open_jax(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
    """An engine that plays ``ENV``."""
    return JaxEngine(games, ENV, prices=options.prices)
