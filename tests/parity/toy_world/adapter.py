"""Orchard for rlworldkit: everything that it is told to train, evaluate, measure and show this world."""

from dataclasses import replace
from typing import Any

import gymnasium
import jax.numpy as jnp
import numpy as np
from jax import Array

from rlparity import BatchEngine, EngineOptions, State
from rlparity.core.prices import price_values
from rlworldkit.envs.spaces import env_id
from rlworldkit.jax.engine import JaxEngine
from rlworldkit.jax.env import JaxEnv, StepMetrics, StepOutput
from rlworldkit.program import Program
from rlworldkit.show import Show
from toy_world import in_jax
from toy_world.in_jax import Orchard
from toy_world.plain import refuse_bad
from toy_world.world import WORLD as ORIGINAL

_SINGLE = ("walker", "wasp", "hp", "score", "turn")


class OrchardJaxEnv(JaxEnv):
    """Orchard in JAX. Observations are float32 (34,) in [0, 1], actions 0-5, components in thousandths."""

    name = "orchard"
    num_actions = len(ORIGINAL.actions)
    observation_shape = ORIGINAL.observation_shape
    low, high = 0.0, 1.0
    components = ORIGINAL.components
    component_unit = ORIGINAL.component_unit
    prices = np.array(price_values(ORIGINAL), np.int32)

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

    def observe(self, state: Orchard) -> Array:
        return in_jax.observation(state)

    def seed(self, state: Orchard) -> Array:
        return jnp.stack(state.seed)

    def mask(self, state: Orchard) -> Array:
        return in_jax.mask(state)

    def reward(self, components: Array) -> Array:
        return in_jax.thousandths(components.sum())

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


def _text(state: State) -> str:
    return "\n".join("".join(f"{cell:6}" for cell in row) for row in ORIGINAL.draw(state).rows)


def _open_jax(games: int, options: EngineOptions = EngineOptions()) -> BatchEngine:
    return JaxEngine(games, _JAX_ENV, prices=options.prices)


_JAX_ENV = OrchardJaxEnv()
WORLD = replace(
    ORIGINAL,
    engines={"plain": ORIGINAL.engines["plain"], "jax": _open_jax},
    title="Orchard",
    home="toy_world.adapter:WORLD",
    jax=OrchardJaxEnv,
    show=lambda: Show(text=_text),
    observation_range=(0.0, 1.0),
)
PROGRAM = Program((WORLD,), module="toy_world")
gymnasium.register(
    env_id(WORLD),
    entry_point="rlworldkit.envs.gym_env:WorldEnv",
    vector_entry_point="rlworldkit.envs.vector_env:WorldVectorEnv",
    kwargs={"world": WORLD},
)
