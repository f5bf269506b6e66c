"""Networks: their shapes, what they see, and that parameters tell whose they are."""

import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from toy_world.in_jax import Orchard

from worldkit.jax.env import JaxEnv
from worldkit.ppo.config import TrainConfig
from worldkit.ppo.networks import ActorCritic, load_logits, load_network, network_of
from worldkit.ppo.numpy_network import NumpyNetwork
from worldkit.ppo.params import Params, save_params
from worldkit.ppo.training import train

from .orchards import PackedOrchard


def test_the_plain_network_has_two_heads_on_a_trunk_of_the_configured_size() -> None:
    params = ActorCritic(num_actions=6, hidden_dim=24, num_layers=3).init(jax.random.key(0), jnp.zeros((1, 34)))
    shapes = {name: layer["kernel"].shape for name, layer in params["params"].items()}
    assert shapes == {
        "hidden_0": (34, 24),
        "hidden_1": (24, 24),
        "hidden_2": (24, 24),
        "policy": (24, 6),
        "value": (24, 1),
    }
    kernels = {name: np.asarray(layer["kernel"]) for name, layer in params["params"].items()}
    for name, gain in {"hidden_0": 2**0.5, "hidden_1": 2**0.5, "policy": 0.01, "value": 1.0}.items():
        np.testing.assert_allclose(np.linalg.svd(kernels[name], compute_uv=False), gain, rtol=1e-4)


@pytest.mark.parametrize("shape", [(4, 4, 2), ()])
def test_the_flat_network_reads_observations_of_any_shape(shape: tuple[int, ...], tmp_path: Path) -> None:
    size = math.prod(shape)

    class Shaped(PackedOrchard):
        observation_shape = shape
        compact, expand = JaxEnv.compact, JaxEnv.expand

        def observe(self, state: Orchard) -> Array:
            return super().observe(state)[:size].reshape(shape)

    config = TrainConfig(num_envs=2, num_steps=2, total_timesteps=4, num_minibatches=1, hidden_dim=8)
    save_params(tmp_path / "params_1.npz", train(config, Shaped()).params)
    network, params = load_network(tmp_path / "params_1.npz", Shaped())
    assert params["params"]["hidden_0"]["kernel"].shape == (size, 8)

    seen = jax.random.uniform(jax.random.key(1), (5, *shape))
    logits, values = _outputs(network, params, seen)
    for mine, flat in zip(
        (logits, values), _outputs(network_of(params, {}), params, seen.reshape(5, size)), strict=True
    ):
        np.testing.assert_array_equal(mine, flat)
    np.testing.assert_array_equal(_outputs(network, params, seen[0])[0], _outputs(network, params, seen[:1])[0][0])
    np.testing.assert_allclose(load_logits(tmp_path / "params_1.npz", Shaped())(seen), logits, atol=1e-6)
    for mine, plain in zip((logits, values), NumpyNetwork(params, {})(np.asarray(seen)), strict=True):
        np.testing.assert_allclose(mine, plain, atol=1e-6)


def _outputs(network: ActorCritic, params: Params, obs: Array) -> tuple[Array, Array]:
    outputs: Any = network.apply(params, obs)
    return outputs[0], outputs[1]
