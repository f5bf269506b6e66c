"""The trainer's networks in numpy: the same as `networks` in JAX, for players that should start fast."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from rlworldkit.ppo.params import CRITIC, Architecture, Params, architecture_of, hidden_layer
from rlworldkit.ppo.value_heads import HEADS, values_of

Floats = NDArray[np.float32]
_LIBRARIES = ThreadpoolController()
"""Limits the threads of numpy's BLAS, which mostly wait for each other in networks of this size."""

NumpyEncoder = Callable[[Mapping[str, Any], Floats], Floats]
"""``encoder(parameters, observations (n, *shape))`` returns the input of the first hidden layer, (n, features).

It may have an attribute ``symmetry``, a `rlworldkit.ppo.symmetry.Symmetry`."""


class NumpyNetwork:
    """A network with one trunk and two heads: observations (n, *shape) to (logits (n, actions), values (n,)).

    Raises ParityError if ``params`` belong to no such network. A call raises ValueError if they do not fit the
    observations or each other.
    """

    architecture: Architecture
    params: Params

    def __init__(self, params: Params, encoders: Mapping[str, NumpyEncoder | None]) -> None:
        named = {name: encoder for name, encoder in encoders.items() if encoder}
        self.architecture = architecture_of(params, named)
        self._encoder = named.get(self.architecture.name)
        self.params, self._layers = params, params["params"]

    def __call__(self, observations: Floats) -> tuple[Floats, Floats]:
        """Evaluate observations on one thread."""
        with _LIBRARIES.limit(limits=1, user_api="blas"):
            return self._outputs(observations)

    def _outputs(self, observations: Floats) -> tuple[Floats, Floats]:
        symmetry, turn = getattr(self._encoder, "symmetry", None), None
        if symmetry:
            observations, turn = symmetry.turned(observations, np)
        if self._encoder:
            hidden = self._encoder(self._layer(self.architecture.name), observations)
        else:
            hidden = observations.reshape(len(observations), math.prod(observations.shape[1:]))
        for number in range(self.architecture.num_layers):
            hidden = self._activate(dense(self._layer(hidden_layer(self.architecture.activation, number)), hidden))
        logits = dense(self._layer("policy"), hidden)
        if symmetry:
            logits = symmetry.turned_back(logits, turn, np)
        if self.architecture.num_privileges:  # players lack these inputs
            unknown = hidden[:, :1] * np.zeros(self.architecture.num_privileges, np.float32)
            hidden = self._activate(dense(self._layer(CRITIC), np.concatenate([hidden, unknown], axis=1)))
        head = HEADS[self.architecture.value_head]
        outputs = dense(self._layer(head.layer), hidden)
        if outputs.shape[1:] != (head.outputs,):
            raise ValueError(f"the value is {outputs.shape[1:]} numbers")
        return logits, values_of(self.architecture.value_head, outputs)

    def _activate(self, hidden: Floats) -> Floats:
        return np.tanh(hidden) if self.architecture.activation == "tanh" else np.maximum(hidden, 0)

    def _layer(self, name: str) -> Any:  # noqa: ANN401 - parameters
        if name not in self._layers:
            raise ValueError(f"there is no layer {name}")
        return self._layers[name]


def dense(layer: Any, inputs: Floats) -> Floats:  # noqa: ANN401 - parameters
    """Apply a fully connected layer to the last axis; raises ValueError if its parameters do not fit the inputs."""
    try:
        kernel, bias = layer["kernel"], layer["bias"]
        fits = kernel.ndim == 2 and kernel.shape == (inputs.shape[-1], *bias.shape)
    except (KeyError, IndexError, TypeError, AttributeError):
        fits = False
    if not fits:
        raise ValueError("a layer is of other inputs")
    outputs: Floats = inputs @ kernel + bias
    return outputs
