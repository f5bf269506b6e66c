"""Symmetries of a world, for networks that see its observations always turned the same way."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Symmetry(NamedTuple):
    """An encoder's attribute ``symmetry``, of the trainer's networks and of those in NumPy.

    turned: ``turned(observations (n, *shape), xp)`` gives the observations that the network reads, and how they were
    turned. turned_back: ``turned_back(logits (n, actions), how, xp)`` gives the logits for the actions of the
    observations as they were. ``xp`` is the module of the arrays, ``numpy`` or ``jax.numpy``. In NumPy they use what
    `rlworldkit.export.trace` knows.
    """

    turned: Callable[[Any, Any], tuple[Any, Any]]
    turned_back: Callable[[Any, Any, Any], Any]
