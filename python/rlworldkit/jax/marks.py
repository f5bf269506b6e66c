"""Rule marks: which rules, and which branches of them, fired in a call.

On the line of a rule stands ``mark("E9", lambda: condition)``. It costs nothing, not even tracing, unless the
function that is traced was wrapped in ``collecting``. ``batching`` carries what was marked out of loops and
conditionals. For debuggers the random words that rules draw are collected in the same way (``Draws.note``), in place of
marks.
"""

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import jax.numpy as jnp
from jax import Array

from rlworldkit.jax.switches import holding

Marks = dict[str, Array]
"""Mark -> whether it fired, bool of the batch shape; or site -> words (games, indices, 3), see ``Draws.note``."""

_collected: ContextVar[Marks | None] = ContextVar("collected", default=None)
_collects_words: ContextVar[bool] = ContextVar("collects_words", default=False)


def mark(name: str, condition: Callable[[], Array]) -> None:
    """Say where a mark fired: bool of the batch shape. ``condition`` is called only if somebody collects."""
    if is_collecting() and not is_collecting_words():
        add({name: condition()})


def add(more: Mapping[str, Array]) -> None:
    """Add marks to those being collected, if any are; a mark added twice fired where either says so."""
    collected = _collected.get()
    if collected is None:
        return
    for name, fired in more.items():
        collected[name] = collected[name] | fired if name in collected else fired


def is_collecting() -> bool:
    """True while marks are collected from what is being traced."""
    return _collected.get() is not None


def collecting(function: Callable[..., Any]) -> Callable[..., tuple[Any, Marks]]:
    """``function`` with the marks that fired in it as a second result."""

    def collected(*args: Any) -> tuple[Any, Marks]:
        marks: Marks = {}
        with holding(_collected, marks):
            return function(*args), marks

    return collected


def collecting_words(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, in which drawn words are collected in place of marks, for it to read with ``words_so_far``."""

    def collected(*args: Any) -> Any:
        with holding(_collects_words, True):
            return collecting(function)(*args)[0]

    return collected


def is_collecting_words() -> bool:
    """True while drawn words are collected from what is being traced."""
    return _collects_words.get()


def words_so_far() -> Marks:
    """The words by their sites that were collected up to here; none where nobody collects them."""
    return dict(_collected.get() or {}) if is_collecting_words() else {}


def packed(marks: Marks, names: Sequence[str], shape: tuple[int, ...]) -> Array:
    """The marks in the order of ``names``, bool (*shape, names); raises ValueError for one that is not among them."""
    unknown = sorted(marks.keys() - set(names))
    if unknown:
        raise ValueError(f"nobody counts the marks {', '.join(unknown)}; add them to the names or correct them")
    never = jnp.zeros(shape, bool)
    return jnp.stack([jnp.broadcast_to(marks.get(name, never), shape) for name in names], axis=-1)
