"""Agents to watch: new networks with firm opinions, in each kind of file."""

import contextlib
import copy
import functools
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax.traverse_util import flatten_dict
from sb3_contrib import MaskablePPO

from hackmatrix import rules
from hackmatrix.gym_env import HackMatrixEnv
from hackmatrix.networks import NETWORKS
from hackmatrix.train_config import CENTRED
from worldkit.ppo.checkpoint_format import pack
from worldkit.ppo.networks import make_network
from worldkit.ppo.params import save_params
from worldkit.sb3.models import model_content


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


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs: an old one, and one that began last and is further in its checkpoint than in its parameters."""
    folder = tmp_path_factory.mktemp("checkpoints")
    for name, updates in (("hackmatrix-20260101-000000-seed0", 900), ("hackmatrix-20260102-000000-seed0", 10)):
        (folder / name).mkdir()
        save_params(folder / name / f"params_{updates}.npz", new_params())
    write_checkpoint(folder / name / "checkpoint_10.pkl", new_params())
    write_checkpoint(folder / name / "checkpoint_20.pkl", new_params())
    return folder


@pytest.fixture(scope="session")
def params(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parameters of a network that sees the board from the player."""
    path = tmp_path_factory.mktemp("params") / "params_1.npz"
    save_params(path, new_params())
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory, swift_built: None) -> Path:
    """A new model of MaskablePPO."""
    with contextlib.closing(HackMatrixEnv()) as env:
        made = MaskablePPO("MultiInputPolicy", env, n_steps=8, batch_size=8, seed=1, device="cpu")
    path = tmp_path_factory.mktemp("models") / "best_model.zip"
    path.write_bytes(model_content(made))
    return path
