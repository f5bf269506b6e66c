"""Trained parameters as a policy that plays, and as what a new run begins with."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax.errors import FlaxError
from jax import Array
from jax.typing import ArrayLike

from parity.errors import UsageError
from worldkit.jax.env import JaxEnv
from worldkit.ppo import parallel
from worldkit.ppo.config import TrainConfig
from worldkit.ppo.networks import ActorCritic, network_of
from worldkit.ppo.params import Architecture, Params, architecture_of, load_params, misfit, other_actions
from worldkit.ppo.rollout import RunnerState


def load_logits(path: Path, env: JaxEnv) -> Callable[[ArrayLike], Array]:
    """What ``load_network`` loads as a compiled function: observations (n, ...) to logits (n, actions)."""
    network, params = load_network(path, env)
    return jax.jit(lambda observations: network.apply(params, observations)[0])


def load_network(path: Path, env: JaxEnv) -> tuple[ActorCritic, Params]:
    """The network whose parameters the trainer of this world wrote as ``params_*.npz``, and the parameters.

    Raises ParityError, with one sentence, for any other file.
    """
    params = load_params(path)
    network = network_of(params, env.networks(), len(env.observation_shape))
    observations = jax.ShapeDtypeStruct((1, *env.observation_shape), jnp.float32)
    try:
        logits, _ = jax.eval_shape(network.apply, params, observations)
    except (FlaxError, TypeError, ValueError) as error:
        raise misfit(path) from error
    if logits.shape[1] != env.num_actions:
        raise other_actions(path, env.num_actions)
    return network, params


class InitialParams(NamedTuple):
    """The file whose parameters a run begins with, and these parameters."""

    path: Path
    params: Params


def load_initial_params(path: Path, config: TrainConfig, env: JaxEnv) -> InitialParams:
    """The parameters in a ``params_*.npz`` file, to begin a run with these settings with.

    Raises UsageError where they are of another network, ParityError for any other file.
    """
    params = load_params(path)
    found = architecture_of(params, [name for name, encoder in env.networks().items() if encoder])
    if found.num_actions != env.num_actions:
        raise other_actions(path, env.num_actions)
    sizes = config.network, env.num_actions, config.hidden_dim, config.num_layers
    num_privileges = env.num_privileges if config.privileged_critic else 0
    if found != Architecture(*sizes, config.value_head, num_privileges, config.activation):
        raise UsageError(
            f"{path} is of another network: add --network {found.name} --hidden-dim {found.hidden_dim} "
            f"--num-layers {found.num_layers} --value-head {found.value_head} "
            f"--activation {found.activation}"
            f"{' --privileged-critic' if found.num_privileges else ''}."
        )
    return InitialParams(path, params)


def with_initial_params(initial: InitialParams, fresh: RunnerState) -> RunnerState:
    """``fresh`` with these parameters, lying where its own do; raises ParityError where they are of other shapes."""
    state = fresh.train_state
    if jax.tree.map(jnp.shape, state.params) != jax.tree.map(jnp.shape, initial.params):
        raise misfit(initial.path)
    params = jax.tree.map(lambda old, new: parallel.placed(new, old.sharding), state.params, initial.params)
    return fresh._replace(train_state=state.replace(params=params))
