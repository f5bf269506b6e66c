"""A world that costs next to nothing: a known problem.

The observation names one of the moves 0-3, and playing it earns 1; every valid action costs 0.01.
Actions 0-5 are valid, except that one of 4 and 5 is forbidden. A game ends by itself after 3 to 7
actions, so episodes end within any rollout, at different times. The best mean reward is 0.99.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from hackmatrix import rules
from hackmatrix.jax_env import reward as exact_reward
from worldkit.jax.env import JaxEnv, StepMetrics, StepOutput

REWARD_NAMES = (
    "step_penalty",
    "stage_completion",
    "score_gain",
    "kills",
    "data_siphon",
    "distance_shaping",
    "victory",
    "death_penalty",
    "resource_gain",
    "resource_holding",
    "damage_penalty",
    "hp_recovery",
    "siphon_quality",
    "siphon_death_penalty",
    "program_waste",
)
NUM_ACTIONS = rules.NUM_ACTIONS
OBSERVATION_SIZE = rules.OBSERVATION_SIZE
BEST_MEAN_REWARD = 0.99


class Facts(NamedTuple):
    hp: Array
    stage: Array
    score: Array
    turn: Array
    credits: Array


class Words(NamedTuple):
    low: Array
    high: Array


class State(NamedTuple):
    now: Facts
    seed: Words
    event: Array


class Result(NamedTuple):
    components: Array
    terminated: Array
    stage_complete: Array
    death: Array
    victory: Array
    invalid_action: Array


class CompactObservation(NamedTuple):
    target: Array  # uint32, one bit
    valid: Array  # uint32, bits


def next_seed(seed: Array) -> Array:
    return jnp.stack([seed[0] * jnp.uint32(1664525) + jnp.uint32(1013904223), seed[1] + jnp.uint32(1)])


def reset(seed: Array) -> State:
    zero = jnp.int32(0)
    return State(
        now=Facts(hp=jnp.int32(3), stage=jnp.int32(1), score=zero, turn=zero, credits=zero),
        seed=Words(seed[0], seed[1]),
        event=jnp.uint32(0),
    )


def step(state: State, action: Array) -> tuple[State, Result]:
    valid = (action >= 0) & (action < NUM_ACTIONS) & mask(state)[jnp.clip(action, 0, NUM_ACTIONS - 1)]
    hit = valid & (action == _target(state))
    now = state.now
    turn = now.turn + valid
    over = valid & (turn >= _length(state))
    after = now._replace(
        turn=turn, score=now.score + hit, stage=jnp.minimum(8, 1 + turn // 2), hp=jnp.where(over, 0, now.hp)
    )
    components = jnp.zeros(15, jnp.int32).at[0].set(jnp.where(valid, -10, 0)).at[2].set(jnp.where(hit, 1000, 0))
    no = jnp.bool_(False)
    result = Result(components, over | ~valid, no, over, no, ~valid)
    return State(after, state.seed, state.event + valid.astype(jnp.uint32)), result


def mask(state: State) -> Array:
    forbidden = 4 + (_word(state) >> 8) % 2
    actions = jnp.arange(NUM_ACTIONS, dtype=jnp.uint32)
    return (actions < 6) & (actions != forbidden) & (state.now.hp > 0)


def compact(state: State) -> CompactObservation:
    bits = jnp.uint32(1) << jnp.arange(NUM_ACTIONS, dtype=jnp.uint32)
    target = jnp.uint32(1) << _target(state).astype(jnp.uint32)
    return CompactObservation(target, jnp.where(mask(state), bits, 0).sum(dtype=jnp.uint32))


def expand(compact_obs: CompactObservation) -> Array:
    words = jnp.stack([compact_obs.target, compact_obs.valid], axis=-1)[..., None]
    bits = ((words >> jnp.arange(NUM_ACTIONS, dtype=jnp.uint32)) & 1).astype(jnp.float32)
    flat = bits.reshape(*bits.shape[:-2], 2 * NUM_ACTIONS)
    return jnp.pad(flat, [(0, 0)] * (flat.ndim - 1) + [(0, OBSERVATION_SIZE - 2 * NUM_ACTIONS)])


def observe(state: State) -> Array:
    return expand(compact(state))


def _length(state: State) -> Array:
    return (3 + _mix(state.seed.low) % 5).astype(jnp.int32)


def _target(state: State) -> Array:
    return (_word(state) % 4).astype(jnp.int32)


def _word(state: State) -> Array:
    return _mix(state.seed.low + jnp.uint32(7919) * state.event)


def _mix(word: Array) -> Array:
    word = (word ^ (word >> 16)) * jnp.uint32(0x7FEB352D)
    word = (word ^ (word >> 15)) * jnp.uint32(0x846CA68B)
    return word ^ (word >> 16)


class FreeEnv(JaxEnv):
    """The problem as the trainer sees it."""

    name = "free"
    num_actions = NUM_ACTIONS
    observation_shape: tuple[int, ...] = (OBSERVATION_SIZE,)
    components = REWARD_NAMES
    component_unit = 0.001

    def reset(self, seed: Array) -> State:
        return reset(seed)

    def step(self, state: State, action: Array) -> StepOutput:
        following, result = step(state, action)
        events = {"invalid_action": result.invalid_action, "death": result.death}
        reward, never = self.reward(result.components), jnp.bool_(False)
        return StepOutput(following, reward, result.components, result.terminated, never, following, events)

    def next_game(self, state: State) -> State:
        return reset(next_seed(jnp.stack(state.seed)))

    def reward(self, components: Array) -> Array:
        return exact_reward(components)

    def observe(self, state: State) -> Array:
        return observe(state)

    def mask(self, state: State) -> Array:
        return mask(state)

    def compact(self, state: State) -> CompactObservation:
        return compact(state)

    def expand(self, compact: CompactObservation) -> Array:
        return expand(compact)

    def metrics(self, step: StepOutput, action: Array) -> StepMetrics:
        kinds = {"move": action < 4, "siphon": action == 4, "program": action > 4}
        shares = {f"actions/{kind}_frac": taken for kind, taken in kinds.items()}
        return StepMetrics(shares, {"stats/highest_stage": step.final.now.stage})


LEVELS = 4


class Levelled(FreeEnv):
    """The problem with levels: two turns each, of which only the first few are ever seen."""

    levels = LEVELS

    def level(self, state: State) -> Array:
        return jnp.minimum(state.now.turn // 2, LEVELS - 1)

    def reseed(self, state: State, seed: Array) -> State:
        return state._replace(seed=Words(seed[0], seed[1]), event=jnp.uint32(0))

    def _late(self, seed: Array) -> State:
        state = reset(seed)
        return state._replace(now=state.now._replace(turn=jnp.int32(2), credits=jnp.int32(99)))

    def curricula(self) -> Mapping[str, Callable[[Array], State]]:
        return {"late": self._late}
