"""The game as the trainer in JAX sees it: its states, metrics and networks."""

import jax.numpy as jnp
from jax import Array

from hackmatrix import jax_env, rules
from hackmatrix.curriculum import STARTS
from hackmatrix.jax_env.observation import player_cell
from hackmatrix.metrics import HIGHEST_STAGE, action_share
from hackmatrix.networks import NETWORKS
from worldkit.jaxkit.threefry import Seed
from worldkit.purejaxrl.train_env import StepMetrics, TrainEnv, TrainStep


class HackMatrixTrainEnv(TrainEnv):
    """HackMatrix in JAX. Observations are float32 (1545,) in [0, 1] (O), actions 0-27 (M), components thousandths (W).

    Games follow one another by R6 and never truncate by themselves (C4).
    """

    name = "hackmatrix"
    rules_version = rules.VERSION
    num_actions = rules.NUM_ACTIONS
    observation_shape = (rules.OBSERVATION_SIZE,)
    low, high = 0.0, 1.0
    components = rules.COMPONENTS
    component_unit = rules.COMPONENT_UNIT
    networks = NETWORKS
    levels = rules.WON_STAGE - 1
    starts = STARTS
    packages = ("hackmatrix",)

    def reset(self, seed: Array) -> jax_env.State:
        return jax_env.reset(seed)

    def play(self, state: jax_env.State, action: Array) -> TrainStep:
        following, result = jax_env.step(state, action)
        return _told(following, result, following)

    def restart(self, state: jax_env.State) -> jax_env.State:
        return jax_env.restart(state, jnp.bool_(True))

    def step(self, state: jax_env.State, action: Array, truncate: Array | None = None) -> TrainStep:
        # one pass makes the stages of completed and of new games
        step = _told(*jax_env.step_auto_reset(state, action, truncate))
        return step if truncate is None else step._replace(truncated=truncate & ~step.terminated)

    def reseeded(self, state: jax_env.State, seed: Array) -> jax_env.State:
        # a word is addressed by the seed and the event number (R4): neither of the game's own stays
        return state._replace(seed=Seed(seed[0], seed[1]), event_number=jnp.uint32(0))

    def level(self, state: jax_env.State) -> Array:
        return state.now.stage - 1

    def observe(self, state: jax_env.State) -> Array:
        return jax_env.observe(state)

    def mask(self, state: jax_env.State) -> Array:
        return jax_env.mask(state)

    def compact(self, state: jax_env.State) -> Array:
        return jax_env.compact(state)

    def expand(self, compact: Array) -> Array:
        return jax_env.expand(compact)

    def likeness(self, compact: Array) -> Array:
        return player_cell(compact)

    def reward(self, components: Array) -> Array:
        return jax_env.reward(components)

    def metrics(self, step: TrainStep, action: Array) -> StepMetrics:
        kinds = (action < rules.SIPHON, action == rules.SIPHON, action > rules.SIPHON)
        shares = {action_share(kind): taken for kind, taken in zip(rules.ACTION_KINDS, kinds, strict=True)}
        return StepMetrics(means=shares, maxima={HIGHEST_STAGE: step.final.now.stage})

    def info(self, step: TrainStep) -> dict[str, Array]:
        facts = {name: getattr(step.final.now, name) for name in ("stage", "score", "hp")}
        return {**facts, **step.events}


def _told(state: jax_env.State, result: jax_env.StepResult, final: jax_env.State) -> TrainStep:
    return TrainStep(
        state=state,
        reward=jax_env.reward(result.components),
        components=result.components,
        terminated=result.terminated,
        truncated=jnp.zeros_like(result.terminated),
        final=final,
        events={name: getattr(result, name) for name in rules.EVENTS},
    )
