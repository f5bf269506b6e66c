"""Sets of cells as two 32-bit words, which a state carries from step to step.

JAX has 64-bit arrays only within `jax.enable_x64`, and whoever trains need not enable them. So the functions of
the chapters compute on ``Cells``, and what they are given and give has ``WordPair`` in their place.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from hackmatrix.jax_env.bitboard import Cells

Tree = TypeVar("Tree")

HALF = 18
"""Cells in each half of the board."""


class WordPair(NamedTuple):
    """A set of cells: bit i of ``low`` is cell i, bit i of ``high`` is cell 18 + i (both uint32)."""

    low: Array
    high: Array


def halved(cells: Cells) -> WordPair:
    """The rows 0-2 and the rows 3-5 of a set."""
    low = cells.word.astype(jnp.uint32) & np.uint32((1 << HALF) - 1)
    return WordPair(low, (cells.word >> np.uint64(HALF)).astype(jnp.uint32))


def joined(halves: WordPair) -> Cells:
    """The inverse of ``halved``."""
    return Cells(halves.low.astype(jnp.uint64) | (halves.high.astype(jnp.uint64) << np.uint64(HALF)))


def kept(tree: Tree) -> Tree:
    """A pytree with ``WordPair`` in the place of all ``Cells``."""
    return _with_each(Cells, halved, tree)


def in_words(tree: Tree) -> Tree:
    """The inverse of ``kept``."""
    return _with_each(WordPair, joined, tree)


def computing_in_words(core: Callable[..., Any]) -> Callable[..., Any]:
    """A function on what is ``kept`` from one that computes on ``Cells``.

    While ``core`` is traced, a number or an index without a dtype of its own is 64 bits wide, so each names one.
    """

    def core_on_kept(*args: Any) -> Any:
        with jax.enable_x64(True):
            return kept(core(*in_words(args)))

    return core_on_kept


def _with_each(kind: type, function: Callable[[Any], Any], tree: Tree) -> Tree:
    """A pytree with ``function`` of each node of one kind in its place."""

    def is_one(node: Any) -> bool:
        return isinstance(node, kind)

    changed: Tree = jax.tree.map(lambda node: function(node) if is_one(node) else node, tree, is_leaf=is_one)
    return changed
