"""The sanitizer of JAX engines: ``rlparity sanitize`` interprets each program of an engine and finds silent faults.

Each equation of the traced program is evaluated on the values of a batch of games. Where one goes wrong, the elements
that it spoils are tainted, and so is whatever depends on them. A fault counts only where its taint reaches a result of
the program (state, observation, reward, end, mask), so a bad value that a ``where`` discards is none.

Faults:

- *negative index*: JAX counts it from the end. Recognised by the compare, add and select that JAX's indexing makes.
- *index out of range*: a read from somewhere else, or a write that goes elsewhere or is dropped. A call in the source
  that gives ``mode=`` has chosen so and makes none, and adding zero out of range spoils nothing.
- *uninitialised value*: an element of ``jnp.empty`` or ``lax.empty`` that nobody wrote, and what a call with
  ``mode="fill"`` and without ``fill_value`` reads out of range.
- *integer overflow* of signed numbers; unsigned numbers wrap by definition. *division by zero* of whole numbers.
- *NaN* and *infinity* where no operand holds one.

A taint passes an operation unless another, sound operand decides the result alone (``False &``, ``True |``, ``0 *``),
and a select by what is chosen; a tainted condition of a loop or branch taints all that comes out of it. An index that
is wrong taints all that its game writes to. Operations that this package does not know taint all their results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike


class JaxListener(Protocol):
    """A function that is told of calls of pure JAX functions."""

    def __call__(self, name: str, function: Callable[..., Any], arguments: tuple[Any, ...], slots: ArrayLike) -> None:
        """Listen to a call; ``name`` always stands for the same function of arguments of the same shapes.

        ``slots``: the game of each row of the results, integers (rows,), -1 for none; or the number of the only game.
        """


@runtime_checkable
class WatchableEngine(Protocol):
    """A ``rlparity.BatchEngine`` that plays by pure functions of JAX."""

    def watch_jax(self, listener: JaxListener) -> None:
        """Have ``listener`` called before each call of such a function, with the games as they are before it."""
