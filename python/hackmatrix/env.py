"""HackMatrix as a ``JaxEnv``: its JAX engine with metrics, networks and curricula."""

from collections.abc import Callable, Mapping

import jax.numpy as jnp
from jax import Array

from hackmatrix import jax_env, rules
from hackmatrix.jax_env.observation import player_cell
from hackmatrix.jax_env.state_from_dict import read_state
from hackmatrix.jax_env.state_to_dict import state_arrays
from hackmatrix.score import HIGHEST_STAGE, action_share
from hackmatrix.world import WORLD
from rlworldkit.jax.env import Encoder, JaxEnv, StepMetrics, StepOutput
from rlworldkit.jax.target import is_tracing_for
from rlworldkit.jax.threefry import Seed


class HackMatrixJaxEnv(JaxEnv, world=WORLD):
    """HackMatrix in JAX. Observations are float32 (1545,) in [0, 1] (O), actions 0-27 (M), components thousandths (W).

    Games follow one another by R6 and never truncate by themselves (C4).
    """

    prices = jax_env.PRICES
    levels = rules.WON_STAGE - 1
    packages: tuple[str, ...] = ("hackmatrix",)

    reset = staticmethod(jax_env.reset)
    observe = staticmethod(jax_env.observe)
    mask = staticmethod(jax_env.mask)
    compact = staticmethod(jax_env.compact)
    expand = staticmethod(jax_env.expand)
    reward = staticmethod(jax_env.reward)
    to_dict = staticmethod(jax_env.get_state)
    from_dict = staticmethod(read_state)
    arrays = staticmethod(state_arrays)
    phases = staticmethod(jax_env.phases)
    phase_names = jax_env.PHASES

    def step(self, state: jax_env.State, action: Array) -> StepOutput:
        following, result = jax_env.step(state, action)
        return self._output(following, result, following)

    def next_game(self, state: jax_env.State) -> jax_env.State:
        return jax_env.restart(state, jnp.bool_(True))

    def step_autoreset(self, state: jax_env.State, action: Array, truncate: Array | None = None) -> StepOutput:
        # one pass makes the stages of completed and of new games
        step = self._output(*jax_env.step_auto_reset(state, action, truncate))
        return step if truncate is None else step._replace(truncated=truncate & ~step.terminated)

    def seed(self, state: jax_env.State) -> Array:
        return jnp.stack(state.seed)

    def facts(self, state: jax_env.State) -> tuple[Array, ...]:
        return tuple(getattr(state.now, name).astype(jnp.uint32) for name in rules.FACTS)

    def info(self, step: StepOutput) -> dict[str, Array]:
        facts = {name: getattr(step.final.now, name) for name in ("stage", "score", "hp")}
        return {**facts, **step.events}

    def sort_key(self, compact: Array) -> Array | None:
        # on other devices, multiplying the whole field is faster than fetching windows
        return player_cell(compact) if is_tracing_for("cpu") else None

    def networks(self) -> Mapping[str, Encoder | None]:
        from hackmatrix.networks import NETWORKS

        return NETWORKS

    def metrics(self, step: StepOutput, action: Array) -> StepMetrics:
        kinds = (action < rules.SIPHON, action == rules.SIPHON, action > rules.SIPHON)
        shares = {action_share(kind): taken for kind, taken in zip(rules.ACTION_KINDS, kinds, strict=True)}
        return StepMetrics(means=shares, maxima={HIGHEST_STAGE: step.final.now.stage})

    def curricula(self) -> Mapping[str, Callable[[Array], jax_env.State]]:
        from hackmatrix.curriculum import STARTS

        return STARTS

    def level(self, state: jax_env.State) -> Array:
        return state.now.stage - 1

    def reseed(self, state: jax_env.State, seed: Array) -> jax_env.State:
        # random words are addressed by seed and event number (R4), so both are replaced
        return state._replace(seed=Seed(seed[0], seed[1]), event_number=jnp.uint32(0))

    def _output(self, state: jax_env.State, result: jax_env.StepResult, final: jax_env.State) -> StepOutput:
        components = jax_env.components(result.counts, self.prices)
        return StepOutput(
            state=state,
            reward=jax_env.reward(components),
            components=components,
            terminated=result.terminated,
            truncated=jnp.zeros_like(result.terminated),
            final=final,
            events={name: getattr(result, name) for name in rules.EVENTS},
        )


ENV = HackMatrixJaxEnv()
"""The environment of all engines in this process, so that they share compiled programs."""
