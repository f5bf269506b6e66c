"""Metrics of rollouts, summed on the device, and of the rows that a run logs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.sharding import Mesh

from rlworldkit.jax.env import JaxEnv, StepOutput
from rlworldkit.jax.exact import total
from rlworldkit.ppo import parallel
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.state import Transition


class RolloutMetrics(NamedTuple):
    """Metrics of a rollout, over the steps of all natural games (`curriculum`).

    For a single step, ``reward_sum`` and ``return_sum`` are not summed over the games: they have shape (games,).
    """

    reward_sum: Array  # float32
    component_sums: Array  # float32 (components,)
    episodes: Array  # int32, number of ended episodes
    return_sum: Array  # float32, of those episodes
    length_sum: Array  # int32, of those episodes
    sums: dict[str, Array]  # float32, by the world's names
    maxima: dict[str, Array]


def metrics_of_step(
    config: TrainConfig,
    env: JaxEnv,
    mesh: Mesh | None,
    transition: Transition,
    step: StepOutput,
    episode_steps: Array,
    episode_return: Array,
) -> RolloutMetrics:
    """Metrics of one step in all games; ``episode_steps`` and ``episode_return``, (games,), include this step."""
    done, natural = transition.done, config.natural_games
    added = parallel.over_games(env.metrics, mesh)(step, transition.action)
    return RolloutMetrics(
        reward_sum=transition.reward[:natural],
        component_sums=step.components[:natural].astype(jnp.float32).sum(axis=0),
        episodes=done[:natural].sum(dtype=jnp.int32),
        return_sum=jnp.where(done, episode_return, 0.0)[:natural],
        length_sum=jnp.where(done, episode_steps, 0)[:natural].sum(dtype=jnp.int32),
        sums={name: values[:natural].sum(dtype=jnp.float32) for name, values in added.means.items()},
        maxima={name: values[:natural].max() for name, values in added.maxima.items()},
    )


def metrics_of_rollout(steps: RolloutMetrics) -> RolloutMetrics:
    """Aggregate the metrics of a rollout's steps, (steps, …)."""
    totals: RolloutMetrics = jax.tree.map(lambda leaf: leaf.sum(axis=0), steps)
    return totals._replace(
        reward_sum=total(steps.reward_sum),
        return_sum=total(steps.return_sum),
        maxima={name: values.max() for name, values in steps.maxima.items()},
    )


def metrics_of(
    losses: Mapping[str, Array | np.ndarray], rollout: RolloutMetrics, steps: int, env: JaxEnv
) -> dict[str, float]:
    """Compute the documented metrics of ``steps`` steps from stats of updates, which have a leading axis of updates.

    Losses, rewards (units per step) and ``num_episodes`` are means per update, the rest describes
    the steps as a whole. Means over episodes are NaN if none ended.
    """
    episodes = int(rollout.episodes.sum())
    components = rollout.component_sums.astype(np.float64).sum(axis=0) / steps * env.component_unit
    return {
        "train/mean_episode_return": float(rollout.return_sum.sum()) / episodes if episodes else math.nan,
        "train/mean_episode_length": float(rollout.length_sum.sum()) / episodes if episodes else math.nan,
        "train/mean_reward": float(rollout.reward_sum.sum()) / steps,
        "train/num_episodes": episodes / len(rollout.episodes),
        **{f"train/{name}": float(np.mean(values)) for name, values in losses.items()},
        **{f"reward/{name}": float(value) for name, value in zip(env.components, components, strict=True)},
        **{name: float(values.sum()) / steps for name, values in rollout.sums.items()},
        **{name: np.max(values).item() for name, values in rollout.maxima.items()},
    }
