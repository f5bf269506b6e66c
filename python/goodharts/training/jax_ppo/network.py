"""The networks of ``goodharts.networks`` in JAX, on the same weights: by torch's names, in torch's layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import assert_never

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import NDArray

from goodharts.architecture import CELLS, PRIVILEGES, SEEN, NetworkConfig
from goodharts.rules import ACTIONS, OBSERVATION_SHAPE

Weights = Mapping[str, Array]
"""By the names of torch's ``state_dict``: float32 (out, in) or (out, in, 3, 3), and biases (out,)."""

_Convolution = Callable[[Array, Array], Array]

_GAIN, _GAINS = 2**0.5, {"policy": 0.01, "value": 1.0}
"""Of the first weights: small for the policy, so that it begins undecided."""
_CHUNK = 128
"""Boards convolved at once on a CPU: as fast as 32 or 512, in little memory."""


def initial_weights(config: NetworkConfig, seed: int) -> dict[str, NDArray[np.float32]]:
    """Orthogonal weights and biases of 0, drawn from a run's seed on the host: the same on every device."""
    random = np.random.default_rng((seed, 0))
    weights = {}
    for name, shape in _layers(config):
        weights[f"{name}.weight"] = _orthogonal(shape, _GAINS.get(name, _GAIN), random)
        weights[f"{name}.bias"] = np.zeros(shape[0], np.float32)
    return weights


def evaluate(
    config: NetworkConfig, weights: Weights, observation: Array, privileges: Array, dtype: str = "float32"
) -> tuple[Array, Array]:
    """Logits (n, 8), and values (n,) as the value head scales them, float32.

    observation: float32 (n, 2, 11, 11). privileges: float32 (n, PRIVILEGES), which a critic without them leaves alone.
    dtype: what matrix products are computed in.
    """
    seen = _body(config, weights, observation, dtype)
    known = seen
    if config.privileged:
        known = jax.nn.relu(_dense(weights, "joined.0", jnp.concatenate([seen, privileges], axis=1), dtype))
    return _dense(weights, "policy", seen, dtype), _dense(weights, "value", known, dtype)[:, 0]


def apply(
    config: NetworkConfig,
    dtype: str,
    weights: Weights,
    observation: Array,
    privileges: Array,
    is_sorted: bool = False,
    method: str = "__call__",
) -> tuple[Array, Array]:
    """``evaluate`` as ``worldkit.ppo`` calls a network: its ``outputs`` are values (n, 1)."""
    logits, values = evaluate(config, weights, observation, privileges, dtype)
    return logits, values[:, None] if method == "outputs" else values


def _layers(config: NetworkConfig) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Each layer with the shape of its weights."""
    hidden = config.hidden
    match config.kind:
        case "cnn":
            depths = (OBSERVATION_SHAPE[0], *config.channels)
            for number, (depth_in, depth_out) in enumerate(pairwise(depths), start=1):
                yield f"body.conv{number}", (depth_out, depth_in, 3, 3)
            yield "body.dense", (hidden, depths[-1] * CELLS)
        case "mlp":
            yield "body.dense1", (hidden, SEEN)
            yield "body.dense", (hidden, hidden)
        case unknown:
            assert_never(unknown)
    yield "policy", (len(ACTIONS), hidden)
    if config.privileged:
        yield "joined.0", (hidden, hidden + PRIVILEGES)
    yield "value", (1, hidden)


def _body(config: NetworkConfig, weights: Weights, observation: Array, dtype: str) -> Array:
    match config.kind:
        case "cnn":
            out = jax.lax.platform_dependent(
                observation,
                cpu=partial(_convolved_in_chunks, config, weights, dtype=dtype),
                default=partial(_convolved, config, weights, dtype=dtype, convolution=_convolution),
            )
        case "mlp":
            out = jax.nn.relu(_dense(weights, "body.dense1", observation.reshape(len(observation), -1), dtype))
        case unknown:
            assert_never(unknown)
    return jax.nn.relu(_dense(weights, "body.dense", out, dtype))


def _convolved_in_chunks(config: NetworkConfig, weights: Weights, observation: Array, dtype: str) -> Array:
    """``_convolved`` on a CPU, where XLA's convolutions are slow inside loops: by matrix products.

    Their patches are nine times as large as the boards, so few boards have theirs at once, and have them anew when
    gradients are taken.
    """
    convolve = jax.checkpoint(partial(_convolved, config, weights, dtype=dtype, convolution=_product_of_patches))
    return jax.lax.map(lambda board: convolve(board[None])[0], observation, batch_size=_CHUNK)


def _convolved(
    config: NetworkConfig, weights: Weights, observation: Array, dtype: str, convolution: _Convolution
) -> Array:
    """The convolutional layers' output, (n, channels × CELLS) in torch's order.

    convolution: of boards (n, rows, columns, channels) with a kernel (out, in, 3, 3), to as many cells.
    """
    out = observation.transpose(0, 2, 3, 1)
    for number in range(1, len(config.channels) + 1):
        name = f"body.conv{number}"
        cells = convolution(out.astype(dtype), weights[f"{name}.weight"].astype(dtype))
        out = jax.nn.relu(cells + weights[f"{name}.bias"])
    return out.transpose(0, 3, 1, 2).reshape(len(out), -1)


def _convolution(boards: Array, kernel: Array) -> Array:
    layout = ("NHWC", "OIHW", "NHWC")
    return jax.lax.conv_general_dilated(boards, kernel, (1, 1), "SAME", dimension_numbers=layout).astype(jnp.float32)


def _product_of_patches(boards: Array, kernel: Array) -> Array:
    (rows, columns), (height, width) = boards.shape[1:3], kernel.shape[2:]
    padded = jnp.pad(boards, ((0, 0), (height // 2,) * 2, (width // 2,) * 2, (0, 0)))
    corners = [(down, right) for down in range(height) for right in range(width)]
    shifted = [padded[:, down : down + rows, right : right + columns] for down, right in corners]
    along = (((3,), (1,)), ((), ()))
    flat = kernel.transpose(0, 2, 3, 1).reshape(len(kernel), -1)
    return jax.lax.dot_general(jnp.concatenate(shifted, axis=3), flat, along, preferred_element_type=jnp.float32)


def _dense(weights: Weights, name: str, inputs: Array, dtype: str) -> Array:
    along = (((1,), (1,)), ((), ()))
    kernel = weights[f"{name}.weight"].astype(dtype)
    outputs = jax.lax.dot_general(inputs.astype(dtype), kernel, along, preferred_element_type=jnp.float32)
    return outputs + weights[f"{name}.bias"]


def _orthogonal(shape: tuple[int, ...], gain: float, random: np.random.Generator) -> NDArray[np.float32]:
    """A matrix with orthogonal rows or columns, whichever are fewer (Saxe et al. 2014), in this shape."""
    rows, columns = shape[0], int(np.prod(shape[1:]))
    drawn = random.standard_normal((max(rows, columns), min(rows, columns)), dtype=np.float32)
    basis, triangle = np.linalg.qr(drawn)
    basis *= np.where(np.diag(triangle) < 0, -1, 1)  # uniform among all such matrices
    matrix = basis if rows > columns else basis.T
    return np.ascontiguousarray(gain * matrix.reshape(shape), np.float32)
