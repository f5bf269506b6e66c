"""Symmetries of a world, for networks that read its observations in one canonical orientation."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Symmetry(NamedTuple):
    """Value of an encoder's attribute ``symmetry``, for the trainer's networks and for those in NumPy.

    turned: ``turned(observations (n, *shape), xp)`` returns the observations that the network reads, and how each was
    turned. turned_back: ``turned_back(logits (n, actions), how, xp)`` maps the logits back to the actions of the
    original observations. ``xp`` is the array module, ``numpy`` or ``jax.numpy``. With ``numpy``, both use only
    functions that `rlworldkit.export.trace` supports.
    """

    turned: Callable[[Any, Any], tuple[Any, Any]]
    turned_back: Callable[[Any, Any, Any], Any]
