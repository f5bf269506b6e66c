"""Agents to play with: new networks with firm opinions."""

import copy
import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict

from hackmatrix import rules
from hackmatrix.networks import NETWORKS
from hackmatrix.train_config import CENTRED
from rlworldkit.ppo.checkpoint_format import pack
from rlworldkit.ppo.networks import make_network


def new_params(name: str = CENTRED, hidden_dim: int = 16, num_layers: int = 2, actions: int = rules.NUM_ACTIONS) -> Any:  # noqa: ANN401 - flax's
    """The parameters of a new network whose policy is not uniform, as numpy arrays."""
    return copy.deepcopy(_new_params(name, hidden_dim, num_layers, actions))


@functools.cache
def _new_params(name: str, hidden_dim: int, num_layers: int, actions: int) -> Any:  # noqa: ANN401 - flax's
    network = make_network(name, NETWORKS[name], actions, hidden_dim, num_layers)
    made: Any = jax.jit(network.init)(jax.random.key(3), jnp.zeros((1, rules.OBSERVATION_SIZE)))
    made["params"]["policy"]["kernel"] *= 200
    return jax.tree.map(np.array, made)


def write_checkpoint(path: Path, params: Any, rules_version: str = rules.VERSION) -> Path:  # noqa: ANN401 - flax's
    """A checkpoint that holds these parameters, named as the trainer names them."""
    leaves = {
        ".train_state.params" + "".join(f"['{name}']" for name in place): np.asarray(leaf)
        for place, leaf in flatten_dict(params).items()
    }
    moments = {".train_state.opt_state[1][0].mu['params']['policy']['bias']": np.zeros(28, np.float32)}
    path.write_bytes(pack({"runner": leaves | moments, "rules_version": rules_version}, "hackmatrix"))
    return path
