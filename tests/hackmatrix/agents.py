"""Agents to play with: networks with firm opinions."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax.traverse_util import flatten_dict
from numpy.typing import NDArray

from hackmatrix import rules
from hackmatrix.networks import NETWORKS
from hackmatrix.train_config import CENTRED
from rlworldkit.ppo.checkpoint_format import pack
from rlworldkit.ppo.networks import make_network


def new_params(name: str = CENTRED, hidden_dim: int = 16, num_layers: int = 2, actions: int = rules.NUM_ACTIONS) -> Any:  # noqa: ANN401 - flax's
    """The parameters of a network whose policy is not uniform, as numpy arrays, drawn without compiling anything."""
    network = make_network(name, NETWORKS[name], actions, hidden_dim, num_layers)
    shapes: Any = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, rules.OBSERVATION_SIZE)))
    rng = np.random.default_rng(3)
    made = jax.tree.map(lambda leaf: _drawn(rng, leaf.shape), shapes)
    made["params"]["policy"]["kernel"] *= 2
    return made


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """A kernel whose outputs are as large as its inputs, or a bias of zeros."""
    return (rng.normal(0, shape[0] ** -0.5, shape) if len(shape) > 1 else np.zeros(shape)).astype(np.float32)


def write_checkpoint(path: Path, params: Any, rules_version: str = rules.VERSION) -> Path:  # noqa: ANN401 - flax's
    """A checkpoint that holds these parameters, named as the trainer names them."""
    leaves = {
        ".train_state.params" + "".join(f"['{name}']" for name in place): np.asarray(leaf)
        for place, leaf in flatten_dict(params).items()
    }
    moments = {".train_state.opt_state[1][0].mu['params']['policy']['bias']": np.zeros(28, np.float32)}
    path.write_bytes(pack({"runner": leaves | moments, "rules_version": rules_version}, "hackmatrix"))
    return path
