"""Playing a policy in all games at once: transitions to learn from, and what they add to the metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import optax  # type: ignore[import-untyped]
from jax import Array
from jax.sharding import Mesh

from rlworldkit.jax.env import Compact, JaxEnv, State, StepOutput
from rlworldkit.jax.exact import rounded, total
from rlworldkit.ppo import curriculum, parallel
from rlworldkit.ppo.config import LEVELS, NO_CURRICULUM, TrainConfig
from rlworldkit.ppo.masked_ppo import EpisodeInfo, Samples, Transition, compute_gae, masked_categorical
from rlworldkit.ppo.params import Params
from rlworldkit.ppo.value_heads import FIRST_SCALE, ValueScale, rescaled


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class TrainState:
    """Parameters, the optimizer's state and the scale of the values. Flax's class would take seconds to import.

    step: how many gradient steps there were. apply_fn: that of an ``ActorCritic``, or a function like it.
    tx: the optimizer. value_scale: of a ``popart`` head.
    """

    step: Array | int
    params: Params
    opt_state: Any
    apply_fn: Callable[..., Any] = field(metadata={"static": True})
    tx: optax.GradientTransformation = field(metadata={"static": True})
    value_scale: ValueScale | None = None

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401 - values of the fields
        """The same with some fields changed."""
        return dataclasses.replace(self, **changes)

    @property
    def playable_params(self) -> Params:
        """The parameters to play with: their values are in units of reward."""
        if self.value_scale is None:
            return self.params
        return rescaled(self.params, self.value_scale, FIRST_SCALE)


class RunnerState(NamedTuple):
    """Everything that goes from one update to the next; what is of the games has a leading axis of games."""

    train_state: TrainState
    env_state: State
    episode_steps: Array  # int32 (games,), of the episodes in progress
    episode_return: Array  # float32 (games,), of the episodes in progress
    key: Array
    event_counts: Mapping[str, Array] = {}  # int32 (games,), of the episodes in progress
    archive: curriculum.Archive | None = None  # where the curriculum keeps one


class RolloutMetrics(NamedTuple):
    """Metrics of a rollout, over the steps of all natural games (`curriculum`).

    Of one step, ``reward_sum`` and ``return_sum`` are still those of each game.
    """

    reward_sum: Array  # float32
    component_sums: Array  # float32 (components,)
    episodes: Array  # int32, ended
    return_sum: Array  # float32, of those episodes
    length_sum: Array  # int32, of those episodes
    sums: dict[str, Array]  # float32, by the world's names
    maxima: dict[str, Array]


def evaluate(train_state: TrainState, env: JaxEnv, obs: Compact) -> tuple[Array, Array]:
    """Logits, and values in units of reward, of compact observations with one leading axis."""
    logits, value = train_state.apply_fn(train_state.params, env.expand(obs), env.privileges(obs))
    scale = train_state.value_scale
    return logits, value if scale is None else scale.values(value)


def collect_rollout(
    runner: RunnerState, config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None
) -> tuple[RunnerState, Transition, RolloutMetrics]:
    """Play ``num_steps`` steps in all games; transitions have a leading axis of steps."""
    key, rollout_key = jax.random.split(runner.key)

    def step(carry: RunnerState, step_key: Array) -> tuple[RunnerState, tuple[Transition, RolloutMetrics]]:
        following, transition, metrics = _env_step(carry, config, env, mesh, step_key)
        return following, (transition, metrics)

    runner, (transitions, metrics) = jax.lax.scan(step, runner, jax.random.split(rollout_key, config.num_steps))
    runner = runner._replace(key=key)
    if runner.archive is not None:
        reached = curriculum.EpisodeState(
            runner.env_state, runner.episode_steps, runner.episode_return, runner.event_counts
        )
        levels = parallel.over_games(env.level, mesh)(runner.env_state)
        runner = runner._replace(
            archive=parallel.one_seed_at_a_time(curriculum.archived)(runner.archive, reached, levels)
        )
    totals: RolloutMetrics = jax.tree.map(lambda leaf: leaf.sum(axis=0), metrics)
    totals = totals._replace(
        reward_sum=total(metrics.reward_sum),
        return_sum=total(metrics.return_sum),
        maxima={name: values.max() for name, values in metrics.maxima.items()},
    )
    return runner, transitions, totals


def samples_of(
    runner: RunnerState, transitions: Transition, config: TrainConfig, env: JaxEnv, mesh: Mesh | None = None
) -> Samples:
    """Add GAE to a rollout that ended in ``runner`` and flatten it to a batch of ``config.batch_size``."""
    _, last_value = evaluate(runner.train_state, env, parallel.over_games(env.compact, mesh)(runner.env_state))
    played = transitions.reward, transitions.value, transitions.done, transitions.truncated_value
    advantages, targets = compute_gae(*played, last_value, config.gamma, config.gae_lambda)
    samples: Samples = jax.tree.map(
        lambda leaf: leaf.reshape(config.batch_size, *leaf.shape[2:]), Samples(transitions, advantages, targets)
    )
    return samples


def _env_step(
    runner: RunnerState, config: TrainConfig, env: JaxEnv, mesh: Mesh | None, key: Array
) -> tuple[RunnerState, Transition, RolloutMetrics]:
    """Choose and play one action in every game; the observation stored is the one the policy saw."""
    start_key = None
    if config.curriculum != NO_CURRICULUM:
        key, start_key = jax.random.split(key)
    obs = parallel.over_games(env.compact, mesh)(runner.env_state)
    action_mask = parallel.over_games(env.mask, mesh)(runner.env_state)

    @parallel.one_seed_at_a_time
    def act(train_state: TrainState, key: Array, obs: Compact, mask: Array) -> tuple[Array, Array, Array]:
        logits, value = evaluate(train_state, env, obs)
        return value, *masked_categorical(logits, mask).sample_and_log_prob(seed=key)

    value, action, log_prob = act(runner.train_state, key, obs, action_mask)
    episode_steps = runner.episode_steps + 1
    at_limit = () if config.max_steps is None else (episode_steps >= config.max_steps,)
    step: StepOutput = parallel.over_games(env.step_autoreset, mesh)(runner.env_state, action, *at_limit)
    done = step.terminated | step.truncated
    reward = rounded(step.reward)
    episode_return = runner.episode_return + reward
    counts = {name: before + step.events[name] for name, before in runner.event_counts.items()}
    may_truncate = env.can_truncate or config.max_steps is not None

    @parallel.one_seed_at_a_time
    def last_value(train_state: TrainState, step: StepOutput) -> Array:
        return _truncated_value(train_state, env, mesh, step)

    transition = Transition(
        obs=obs,
        action=action,
        reward=reward,
        done=done,
        log_prob=log_prob,
        value=value,
        action_mask=action_mask,
        truncated_value=last_value(runner.train_state, step) if may_truncate else None,
        episode=EpisodeInfo(done, step.terminated, episode_steps, episode_return, counts) if counts else None,
        level=parallel.over_games(env.level, mesh)(runner.env_state) if config.advantage == LEVELS else None,
    )
    added = parallel.over_games(env.metrics, mesh)(step, action)
    natural = config.natural_games
    metrics = RolloutMetrics(
        reward_sum=reward[:natural],
        component_sums=step.components[:natural].astype(jnp.float32).sum(axis=0),
        episodes=done[:natural].sum(dtype=jnp.int32),
        return_sum=jnp.where(done, episode_return, 0.0)[:natural],
        length_sum=jnp.where(done, episode_steps, 0)[:natural].sum(dtype=jnp.int32),
        sums={name: values[:natural].sum(dtype=jnp.float32) for name, values in added.means.items()},
        maxima={name: values[:natural].max() for name, values in added.maxima.items()},
    )
    totals = jax.tree.map(lambda so_far: jnp.where(done, 0, so_far), (episode_steps, episode_return, counts))
    begun = curriculum.EpisodeState(step.state, *totals)
    if start_key is not None:
        begun = curriculum.begin(config, env, mesh, runner.archive, begun, done, start_key)
    following = runner._replace(
        env_state=begun.games, episode_steps=begun.steps, episode_return=begun.returns, event_counts=begun.event_counts
    )
    return following, transition, metrics


def _truncated_value(train_state: TrainState, env: JaxEnv, mesh: Mesh | None, step: StepOutput) -> Array:
    """Values, (games,), of the last observations of truncated episodes, 0 in the other games."""

    def values_at_end() -> Array:
        _, value = evaluate(train_state, env, parallel.over_games(env.compact, mesh)(step.final))
        return jnp.where(is_cut_off, value, 0.0)

    is_cut_off = step.truncated & ~step.terminated
    values: Array = jax.lax.cond(jnp.any(is_cut_off), values_at_end, lambda: jnp.zeros_like(step.reward))
    return values
