"""Operations and memory traffic of a network's passes, from its maths alone.

Operations count the matrix products, two for a multiply-add, on the 36 cells of the board without padding. The backward
pass counts the gradients of all weights, and of a layer's inputs where these are learned. Bytes count memory traffic if
caches keep nothing between passes and everything within one, except outputs of tanh, which are written and read once
where the backward pass needs them. Observations as floats and logits are not counted, because both could be computed
where they are read.
"""

from typing import NamedTuple

import jax

from hackmatrix.jax_env import PACKED_SIZE
from hackmatrix.rules import DIRECTIONS, GRID_PART, NUM_ACTIONS, NUM_CELLS, SIZE
from hackmatrix.turned import NEAR
from rlworldkit.ppo.params import Params

FLOAT = 4
_TOLD = NUM_CELLS + len(DIRECTIONS) * SIZE * (SIZE - 1)
"""Number of pairs of a cell and a reader: each cell is read by itself and by its neighbours on the board."""
_LEARNED_FROM = FLOAT * PACKED_SIZE + NUM_ACTIONS + 5 * FLOAT
"""Bytes of a sample: observation, mask, action, its probability, value, advantage and target."""


class Work(NamedTuple):
    """Number of operations, and of bytes that are moved to and from memory."""

    operations: int
    moved: int


class Layer(NamedTuple):
    """Work of a layer for one sample: multiply-adds forward, those of its inputs' gradient, and kept tanh outputs."""

    forward: int
    back: int
    kept: int


def evaluating(params: Params, samples: int) -> Work:
    """Work of a forward pass over ``samples`` compact observations."""
    once = sum(layer.forward for layer in layers_of(params))
    return Work(2 * samples * once, _size(params) + samples * FLOAT * (PACKED_SIZE + NUM_ACTIONS + 1))


def learning(params: Params, samples: int) -> Work:
    """Work of the gradient of a loss over ``samples`` samples."""
    layers = layers_of(params)
    once = sum(2 * layer.forward + layer.back for layer in layers)
    of_sample = _LEARNED_FROM + 2 * FLOAT * sum(layer.kept for layer in layers)
    return Work(2 * samples * once, 2 * _size(params) + samples * of_sample)


def _size(params: Params) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(params))


def layers_of(params: Params) -> list[Layer]:
    """Layers of a network, from the shapes of its kernels."""
    leaves = jax.tree_util.tree_leaves_with_path(params)
    kernels = {path[-2].key: leaf.shape for path, leaf in leaves if path[-1].key == "kernel"}
    features, near = (kernels.get(name, (0, 0))[1] for name in ("cell", "near"))
    return [_layer(name, reads, gives, features, near) for name, (reads, gives) in kernels.items()]


def _layer(name: str, reads: int, gives: int, features: int, near: int) -> Layer:
    """Work of a layer. features: number of features of each cell, 0 where the network reads flat observations.

    near: number of features of cells near the player, 0 where these have none of their own.
    """
    if name == "cell":
        return Layer(NUM_CELLS * reads * gives, 0, NUM_CELLS * gives)
    if name == "near":
        return Layer(len(NEAR) * reads * gives, 0, len(NEAR) * gives)
    if name.startswith("round"):
        return Layer(_TOLD * features * gives, _TOLD * features * gives, NUM_CELLS * gives)
    if name == "hidden_0":
        board = NUM_CELLS * features + len(NEAR) * near
        others = GRID_PART.start + 2 * SIZE if features else reads
        return Layer((board + others) * gives, board * gives, gives)
    return Layer(reads * gives, reads * gives, gives if name.startswith("hidden") else 0)
