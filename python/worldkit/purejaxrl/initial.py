"""Runs that begin with trained parameters instead of random ones. All else of theirs is new."""

from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp

from parity.errors import UsageError
from worldkit.jaxkit.env import JaxEnv
from worldkit.purejaxrl import parallel
from worldkit.purejaxrl.config import TrainConfig
from worldkit.purejaxrl.params import Architecture, Params, architecture_of, load_params, misfit, other_actions
from worldkit.purejaxrl.rollout import RunnerState


class Initial(NamedTuple):
    """The file whose parameters a run begins with, and these parameters."""

    path: Path
    params: Params


def read_initial(path: Path, config: TrainConfig, env: JaxEnv) -> Initial:
    """The parameters in a ``params_*.npz`` file, to begin a run with these settings with.

    Raises UsageError where they are of another network, ParityError for any other file.
    """
    params = load_params(path)
    found = architecture_of(params, [name for name, encoder in env.networks().items() if encoder])
    if found.num_actions != env.num_actions:
        raise other_actions(path, env.num_actions)
    sizes = config.network, env.num_actions, config.hidden_dim, config.num_layers
    if found != Architecture(*sizes, config.value_head, env.num_privileges if config.privileged_critic else 0):
        raise UsageError(
            f"{path} is of another network: add --network {found.name} --hidden-dim {found.hidden_dim} "
            f"--num-layers {found.num_layers} --value-head {found.value_head}"
            f"{' --privileged-critic' if found.num_privileges else ''}."
        )
    return Initial(path, params)


def begun_with(initial: Initial, fresh: RunnerState) -> RunnerState:
    """``fresh`` with these parameters, lying where its own do; raises ParityError where they are of other shapes."""
    state = fresh.train_state
    if jax.tree.map(jnp.shape, state.params) != jax.tree.map(jnp.shape, initial.params):
        raise misfit(initial.path)
    params = jax.tree.map(lambda old, new: parallel.placed(new, old.sharding), state.params, initial.params)
    return fresh._replace(train_state=state.replace(params=params))
