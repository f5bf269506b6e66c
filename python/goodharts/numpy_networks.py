"""The networks (G8) in numpy, with parameters named as in `networks`; `rlworldkit.export` traces them."""

from collections.abc import Mapping
from itertools import count, product
from typing import Any

import numpy as np

from goodharts.rules import VIEW
from rlworldkit.agents.numpy_network import Floats, NumpyEncoder


def cnn(params: Mapping[str, Any], observations: Floats) -> Floats:
    """Convolutions of 3 × 3 with ReLU, as `networks.Cnn`: (n, 2, 11, 11) to (n, channels × 121)."""
    boards = observations.transpose(0, 2, 3, 1)
    for number in count(1):
        if f"conv{number}_kernel" not in params:
            break
        kernel = params[f"conv{number}_kernel"]
        padded = np.pad(boards, ((0, 0), (1, 1), (1, 1), (0, 0)))
        corners = product(range(3), range(3))
        patches = [padded[:, row : row + VIEW, column : column + VIEW] for row, column in corners]
        flat = kernel.transpose(2, 3, 1, 0).reshape(-1, len(kernel))
        boards = np.maximum(np.concatenate(patches, axis=3) @ flat + params[f"conv{number}_bias"], np.float32(0))
    return boards.transpose(0, 3, 1, 2).reshape(len(observations), -1)


NUMPY_NETWORKS: Mapping[str, NumpyEncoder | None] = {"mlp": None, "cnn": cnn}
"""Encoders of the kinds of networks, by name."""
