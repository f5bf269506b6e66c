"""Value heads: what their outputs mean, what they learn, and that parameters tell which one they need."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import Array
from orchard.in_jax import Orchard
from threadpoolctl import threadpool_info, threadpool_limits

from rlworldkit.agents.numpy_network import NumpyNetwork, dense
from rlworldkit.jax.env import JaxEnv
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.networks import ActorCritic, make_network, network_of
from rlworldkit.ppo.params import Params, load_params, save_params
from rlworldkit.ppo.program import make_train
from rlworldkit.ppo.state import init_runner
from rlworldkit.ppo.targets import value_errors
from rlworldkit.ppo.value_heads import BINS, HEADS, NUM_BINS, PLAIN, TWO_HOT, ValueHead, two_hot
from rlworldkit.ppo.value_heads import values_of as values

from .orchards import PackedOrchard

VALUES = st.floats(-2900, 2900, width=32)
OLD, TARGET = jnp.array([0.0, 100.0]), jnp.array([500.0, -3.0])


def config(head: ValueHead, **settings: Any) -> TrainConfig:  # noqa: ANN401 - settings
    return dataclasses.replace(TrainConfig(value_head=head), **settings)


@given(VALUES)
def test_two_neighbours_stand_for_a_value_and_their_mean_is_the_value(value: float) -> None:
    weights = two_hot(np.float64(value))
    taken = np.flatnonzero(weights > 1e-12)
    assert len(taken) == 1 or taken[1] - taken[0] == 1
    assert len(taken) <= 2
    assert weights.sum() == pytest.approx(1)
    assert weights @ BINS == pytest.approx(value, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("value", "number"),
    [*((BINS[each], each) for each in (0, 1, NUM_BINS // 2, NUM_BINS - 1)), (1e6, NUM_BINS - 1), (-1e6, 0)],
)
def test_a_bins_own_value_is_that_bin_and_values_beyond_are_the_outermost(value: float, number: int) -> None:
    np.testing.assert_allclose(two_hot(np.float64(value)), np.eye(NUM_BINS)[number], atol=1e-6)


def test_the_mean_over_the_probabilities_is_the_value(key: Array) -> None:
    outputs = 3 * jax.random.normal(key, (5, NUM_BINS))
    expected = jax.nn.softmax(outputs) @ BINS
    np.testing.assert_allclose(values(TWO_HOT, outputs, jnp), expected, rtol=1e-4)
    np.testing.assert_allclose(values(TWO_HOT, np.asarray(outputs)), expected, rtol=1e-4)
    assert values(TWO_HOT, 1000.0 - 2000.0 * (np.arange(NUM_BINS) != NUM_BINS // 2)) == 0  # and does not overflow


@pytest.mark.parametrize(
    ("clips", "outputs", "expected"),
    [
        (True, [5.0, 99.9], [0.5 * (500 - 0.2) ** 2, 0.5 * (99.9 + 3) ** 2]),  # clipped around the old value
        (False, [5.0, 99.9], [0.5 * (500 - 5) ** 2, 0.5 * (99.9 + 3) ** 2]),
    ],
)
def test_a_plain_head_s_error_is_squared(clips: bool, outputs: list[float], expected: list[float]) -> None:
    error = value_errors(jnp.array(outputs)[:, None], OLD, TARGET, config(PLAIN, clip_value_loss=clips), 0.2)
    np.testing.assert_allclose(error, expected, rtol=1e-6)


def test_two_hot_is_the_cross_entropy(key: Array) -> None:
    outputs = jax.random.normal(key, (2, NUM_BINS))
    error = value_errors(outputs, OLD, TARGET, config(TWO_HOT), 0.2)
    expected = -(two_hot(np.asarray(TARGET)) * np.log(jax.nn.softmax(outputs))).sum(axis=-1)
    np.testing.assert_allclose(error, expected, rtol=1e-5)


@pytest.mark.parametrize("head", HEADS)
def test_parameters_tell_their_head_and_numpy_computes_the_same(head: ValueHead, tmp_path: Path) -> None:
    network = make_network("mlp", None, 5, 16, 1, value_head=head)
    seen = jax.random.normal(jax.random.key(1), (20, 8))
    params: Any = network.init(jax.random.key(0), seen)
    save_params(tmp_path / "params_1.npz", params)
    loaded = load_params(tmp_path / "params_1.npz")
    assert network_of(loaded, {"mlp": None}) == network
    outputs: Any = network.apply(params, seen)
    _, of_numpy = NumpyNetwork(loaded, {"mlp": None})(np.asarray(seen))
    np.testing.assert_allclose(of_numpy, outputs[1], rtol=1e-3, atol=1e-3)
    assert outputs[1].shape == (20,)


def test_numpy_computes_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that wait for each other take several times as long where other programs compute."""
    used = set[int]()

    def counted(layer: Any, inputs: Any) -> Any:  # noqa: ANN401 - parameters and arrays
        used.update(each["num_threads"] for each in threadpool_info() if "numpy.libs" in each["filepath"])
        return dense(layer, inputs)

    monkeypatch.setattr("rlworldkit.agents.numpy_network.dense", counted)
    params: Any = make_network("mlp", None, 5, 16, 1).init(jax.random.key(0), jnp.zeros((1, 8)))
    with threadpool_limits(2, "blas"):
        NumpyNetwork(params, {"mlp": None})(np.zeros((1, 8), np.float32))
    assert used <= {1}


def test_a_head_of_another_size_is_refused() -> None:
    network = make_network("mlp", None, 5, 16, 1, value_head=TWO_HOT)
    params: Any = network.init(jax.random.key(0), jnp.zeros((1, 8)))
    layer = params["params"]["value_two_hot"]
    layer["kernel"], layer["bias"] = layer["kernel"][:, 1:], layer["bias"][1:]
    with pytest.raises(ValueError, match="the value is"):
        NumpyNetwork(jax.tree.map(np.asarray, params), {"mlp": None})(np.zeros((1, 8), np.float32))


def test_the_plain_network_has_two_heads_on_a_trunk_of_the_configured_size() -> None:
    init = jax.jit(ActorCritic(num_actions=6, hidden_dim=24, num_layers=3).init)
    params = init(jax.random.key(0), jnp.zeros((1, 34)))
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


@pytest.mark.parametrize("shape", [(4, 4, 2), pytest.param((), marks=pytest.mark.long)])
def test_the_flat_network_reads_observations_of_any_shape(shape: tuple[int, ...], tmp_path: Path) -> None:
    size = math.prod(shape)

    class Shaped(PackedOrchard):
        observation_shape = shape
        compact, expand = JaxEnv.compact, JaxEnv.expand

        def observe(self, state: Orchard) -> Array:
            return super().observe(state)[:size].reshape(shape)

    config = TrainConfig(num_envs=2, num_steps=2, total_timesteps=4, num_minibatches=1, hidden_dim=8)
    start = init_runner(config, Shaped())
    jax.eval_shape(make_train(config, Shaped()), start, jnp.int32(1))  # an update can be traced
    save_params(tmp_path / "params_1.npz", start.train_state.params)
    params = load_params(tmp_path / "params_1.npz")
    network = network_of(params, {}, len(shape))
    assert params["params"]["hidden_0"]["kernel"].shape == (size, 8)

    seen = jax.random.uniform(jax.random.key(1), (5, *shape))
    logits, values = _outputs(network, params, seen)
    for mine, flat in zip(
        (logits, values), _outputs(network_of(params, {}), params, seen.reshape(5, size)), strict=True
    ):
        np.testing.assert_array_equal(mine, flat)
    np.testing.assert_array_equal(_outputs(network, params, seen[0])[0], _outputs(network, params, seen[:1])[0][0])
    for mine, plain in zip((logits, values), NumpyNetwork(params, {})(np.asarray(seen)), strict=True):
        np.testing.assert_allclose(mine, plain, atol=1e-6)


def _outputs(network: ActorCritic, params: Params, obs: Array) -> tuple[Array, Array]:
    outputs: Any = network.apply(params, obs)
    return outputs[0], outputs[1]
