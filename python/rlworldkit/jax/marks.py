"""Rule marks: which rules, and which of their branches, fired in a call.

The code of a rule calls ``mark("E9", lambda: condition)``. The call costs nothing, not even tracing, unless the
traced function is wrapped in ``collecting``. ``batching`` carries marks out of loops and conditionals.
For debuggers, the random words that rules draw are collected in the same way (``EventDraws.note``), in place of
marks.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import jax.numpy as jnp
from jax import Array

from rlworldkit.jax.switches import holding

Marks = dict[str, Array]
"""Whether each mark fired, bool of the batch shape, by name; or words (games, indices, 3) by site (``EventDraws``)."""

_collected: ContextVar[Marks | None] = ContextVar("collected", default=None)
_collects_words: ContextVar[bool] = ContextVar("collects_words", default=False)


def mark(name: str, condition: Callable[[], Array]) -> None:
    """Record where a mark fired: ``condition`` returns a bool of the batch shape, called only inside ``collecting``."""
    if is_collecting() and not is_collecting_words():
        add({name: condition()})


def add(more: Mapping[str, Array]) -> None:
    """Add marks to those being collected, if any are; of a mark added twice the two arrays are ORed."""
    collected = _collected.get()
    if collected is None:
        return
    for name, fired in more.items():
        collected[name] = collected[name] | fired if name in collected else fired


def is_collecting() -> bool:
    """Whether a function wrapped in ``collecting`` is running."""
    return _collected.get() is not None


def collecting(function: Callable[..., Any]) -> Callable[..., tuple[Any, Marks]]:
    """Wrap ``function`` to return the marks that fired in it as a second result."""

    def collected(*args: Any) -> tuple[Any, Marks]:
        marks: Marks = {}
        with holding(_collected, marks):
            return function(*args), marks

    return collected


def collecting_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function`` to collect drawn words in place of marks; it reads them with ``words_so_far``."""

    def collected(*args: Any) -> Any:
        with holding(_collects_words, True):
            return collecting(function)(*args)[0]

    return collected


def is_collecting_words() -> bool:
    """Whether a function wrapped in ``collecting_words`` is running."""
    return _collects_words.get()


def words_so_far() -> Marks:
    """Return the words collected so far, by site; empty outside ``collecting_words``."""
    return dict(_collected.get() or {}) if is_collecting_words() else {}


def packed(marks: Marks, names: Sequence[str], shape: tuple[int, ...]) -> Array:
    """Stack marks in the order of ``names``, bool (*shape, names); raises ValueError for a mark not among them."""
    unknown = sorted(marks.keys() - set(names))
    if unknown:
        raise ValueError(f"nobody counts the marks {', '.join(unknown)}; add them to the names or correct them")
    never = jnp.zeros(shape, bool)
    return jnp.stack([jnp.broadcast_to(marks.get(name, never), shape) for name in names], axis=-1)
