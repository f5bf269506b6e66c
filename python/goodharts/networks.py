"""The networks of G8 for rlworldkit's trainer, and their weights in the layout of ``torch_networks`` and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flax import linen as nn
from jax import Array
from numpy.typing import NDArray

from goodharts.architecture import CHANNELS, NetworkConfig
from goodharts.rules import OBSERVATION_SHAPE
from rlworldkit.jax.env import Encoder
from rlworldkit.ppo.params import CRITIC, Params, hidden_layer
from rlworldkit.ppo.value_heads import HEADS, PLAIN, ValueHead, head_of

_CHUNK = 128
"""Boards convolved at once on a CPU: as fast as 32 or 512, in little memory."""


class Cnn(nn.Module):
    """Convolutions of 3 × 3 with ReLU: observations (n, 2, 11, 11) to (n, channels × 121) in torch's order, float32."""

    dtype: str = "float32"

    @nn.compact
    def __call__(self, observation: Array) -> Array:
        """Convolve; on a CPU by matrix products, since XLA's convolutions are slow there inside loops.

        Their patches are nine times as large as the boards, so they are made for few boards at a time, and made again
        for the gradients.
        """
        layers = []
        for number, (inputs, outputs) in enumerate(pairwise((OBSERVATION_SHAPE[0], *CHANNELS)), start=1):
            init = nn.initializers.orthogonal(2**0.5, column_axis=0)
            kernel = self.param(f"conv{number}_kernel", init, (outputs, inputs, 3, 3))
            layers.append((kernel, self.param(f"conv{number}_bias", nn.initializers.zeros, (outputs,))))

        def in_chunks(boards: Array) -> Array:
            convolve = jax.checkpoint(partial(_convolved, layers, self.dtype, _product_of_patches))
            return jax.lax.map(lambda board: convolve(board[None])[0], boards, batch_size=_CHUNK)

        at_once = partial(_convolved, layers, self.dtype, _convolution)
        return jax.lax.platform_dependent(observation, cpu=in_chunks, default=at_once)


NETWORKS: dict[str, Encoder | None] = {"mlp": None, "cnn": Cnn}


def params_of(shape: NetworkConfig, weights: Mapping[str, Any]) -> Params:
    """Torch's weights by name as parameters; values are in units of reward."""
    layers: dict[str, dict[str, NDArray[np.float32]]] = {}
    for theirs, (layer, kernel, bias) in _names(shape, PLAIN).items():
        weight = np.asarray(weights[f"{theirs}.weight"])
        layers.setdefault(layer, {})[kernel] = weight if weight.ndim == 4 else weight.T
        layers[layer][bias] = np.asarray(weights[f"{theirs}.bias"])
    return {"params": layers}


def torch_weights(shape: NetworkConfig, params: Params) -> dict[str, NDArray[np.float32]]:
    """Parameters as torch's weights by name; the inverse of ``params_of``."""
    weights = {}
    for theirs, (layer, kernel, bias) in _names(shape, head_of(params["params"])).items():
        of_layer = params["params"][layer]
        weight = np.array(of_layer[kernel])
        weights[f"{theirs}.weight"] = weight if weight.ndim == 4 else np.ascontiguousarray(weight.T)
        weights[f"{theirs}.bias"] = np.array(of_layer[bias])
    return weights


def _names(shape: NetworkConfig, head: ValueHead) -> dict[str, tuple[str, str, str]]:
    """Torch's name of each layer -> the names of its layer, kernel and bias in Flax."""
    dense = ["body.dense1", "body.dense"] if shape.kind == "mlp" else ["body.dense"]
    names = {name: hidden_layer("relu", number) for number, name in enumerate(dense)}
    names |= {"policy": "policy", "value": HEADS[head].layer} | ({"joined.0": CRITIC} if shape.privileged else {})
    found = {theirs: (ours, "kernel", "bias") for theirs, ours in names.items()}
    if shape.kind == "cnn":
        for number in range(1, len(CHANNELS) + 1):
            found[f"body.conv{number}"] = "cnn", f"conv{number}_kernel", f"conv{number}_bias"
    return found


def _convolved(
    layers: list[tuple[Array, Array]], dtype: str, convolution: Callable[[Array, Array], Array], observation: Array
) -> Array:
    """Apply all layers. convolution: of boards (n, rows, columns, channels) with a kernel (out, in, 3, 3)."""
    out = observation.transpose(0, 2, 3, 1)
    for kernel, bias in layers:
        out = jax.nn.relu(convolution(out.astype(dtype), kernel.astype(dtype)) + bias)
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
