"""State of a run in JAX that one update passes to the next, and the data that an update learns from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import jax
import jax.numpy as jnp
import numpy as np
import optax  # type: ignore[import-untyped]
from jax import Array
from jax.sharding import Mesh, NamedSharding

from rlparity.errors import UsageError
from rlworldkit.jax.env import Compact, JaxEnv, State
from rlworldkit.ppo import curriculum, parallel
from rlworldkit.ppo.config import ARCHIVE, NO_CURRICULUM, TrainConfig
from rlworldkit.ppo.optimizer import optimizer_of
from rlworldkit.ppo.params import Params, architecture_for
from rlworldkit.ppo.value_heads import FIRST_SCALE, POPART, ValueScale, rescaled


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class TrainState:
    """Parameters, optimizer state and value scale; Flax's class of this name would take seconds to import.

    step: the number of gradient steps so far. apply_fn: that of an ``ActorCritic``, or a function like it.
    tx: the optimizer. value_scale: that of a ``popart`` head.
    """

    step: Array | int
    params: Params
    opt_state: Any
    apply_fn: Callable[..., Any] = field(metadata={"static": True})
    tx: optax.GradientTransformation = field(metadata={"static": True})
    value_scale: ValueScale | None = None

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401 - values of the fields
        """Copy with some fields changed."""
        return dataclasses.replace(self, **changes)

    @property
    def playable_params(self) -> Params:
        """Parameters for playing, with values in units of reward."""
        if self.value_scale is None:
            return self.params
        return rescaled(self.params, self.value_scale, FIRST_SCALE)


class RunnerState(NamedTuple):
    """State that one update passes to the next; arrays of the games have a leading axis of games."""

    train_state: TrainState
    env_state: State
    episode_steps: Array  # int32 (games,), of the episodes in progress
    episode_return: Array  # float32 (games,), of the episodes in progress
    key: Array
    event_counts: Mapping[str, Array] = {}  # int32 (games,), of the episodes in progress
    archive: curriculum.Archive | None = None  # if the curriculum needs one


class EpisodeInfo(NamedTuple):
    """Totals of an episode up to a step; the episode ends with that step if ``done``."""

    done: Array  # bool
    terminated: Array  # bool
    length: Array  # int32
    episode_return: Array  # float32
    event_counts: Mapping[str, Array]  # int32


class Transition(NamedTuple):
    """One step of every game; all leaves share their leading axes ((games,), (steps, games) or (samples,)).

    ``obs`` and ``action_mask`` are what the policy saw when it chose ``action``. ``reward`` and
    ``done`` result from that action. ``truncated_value`` is the value of an episode's own last
    observation if a time limit truncated it, else 0; None in an environment without limit.
    ``episode`` is None if the environment has no ``counted_events``.
    """

    obs: Compact
    action: Array  # int32
    reward: Array  # float32
    done: Array  # bool, terminated or truncated
    log_prob: Array  # float32
    value: Array  # float32
    action_mask: Array  # bool (..., actions)
    truncated_value: Array | None  # float32
    episode: EpisodeInfo | None = None
    level: Array | None = None  # int32, where advantages are scaled by level


class Samples(NamedTuple):
    """Transitions with their advantages and value targets from GAE, float32."""

    transition: Transition
    advantage: Array
    target: Array


def init_runner(config: TrainConfig, env: JaxEnv, games: State | None = None) -> RunnerState:
    """Create the first state of a run, with a new network and new games; a pure function of ``config.seed``.

    ``games``: the new games, if the caller has created them already.
    Raises UsageError for a network, a curriculum or privileges that the world does not have.
    """
    from rlworldkit.ppo.networks import network_for  # imported only here, as Flax takes long to import

    networks = env.networks()
    curricula = (NO_CURRICULUM, *([ARCHIVE] if env.levels else []), *env.curricula())
    if config.curriculum != NO_CURRICULUM and not set(config.curricula) <= set(curricula[1:]):
        raise UsageError(f"curriculum must be {' or '.join(curricula)}, got {config.curriculum}.")
    if config.network not in networks:
        raise UsageError(f"network must be {' or '.join(networks)}, got {config.network}.")
    if config.advantage == "levels" and not env.levels:
        raise UsageError(f"{env.name} has no levels to scale advantages by: choose another --advantage.")
    if config.privileged_critic and not env.num_privileges:
        raise UsageError(f"{env.name} has no privileges that a critic could read: leave --privileged-critic out.")
    network = network_for(architecture_for(config, env), networks, len(env.observation_shape), config.dtype)

    @jax.jit
    def first(low: Array, high: Array) -> tuple[Params, Array]:
        network_key, run_key = jax.random.split(jax.random.fold_in(jax.random.key(low), high))
        return network.init(network_key, jnp.zeros((1, *env.observation_shape))), run_key

    params, run_key = first(np.uint32(config.seed & 0xFFFFFFFF), np.uint32(config.seed >> 32))
    if games is None:
        games = jax.jit(jax.vmap(env.reset))(jnp.asarray(env.initial_seeds(config.seed, config.num_envs)))
    optimizer = optimizer_of(config)
    scale = FIRST_SCALE if config.value_head == POPART else None
    return RunnerState(
        train_state=TrainState(0, params, jax.jit(optimizer.init)(params), network.apply, optimizer, scale),
        env_state=games,
        episode_steps=jnp.zeros(config.num_envs, jnp.int32),
        episode_return=jnp.zeros(config.num_envs),
        key=run_key,
        event_counts={name: jnp.zeros(config.num_envs, jnp.int32) for name in env.counted_events},
        archive=curriculum.empty_archive(config, env, games),
    )


def shardings_of(runner: RunnerState, mesh: Mesh) -> RunnerState:
    """Shardings of all leaves of a state, or of its shapes: games split over ``mesh``, other leaves replicated."""
    whole, split = (NamedSharding(mesh, spec) for spec in (parallel.WHOLE, parallel.SPLIT))
    everywhere: RunnerState = jax.tree.map(lambda leaf: whole, runner)
    of_games = {
        name: getattr(runner, name) for name in ("env_state", "episode_steps", "episode_return", "event_counts")
    }
    return everywhere._replace(**jax.tree.map(lambda leaf: split, of_games))
