"""Shrinkers for ``World.shrinkers`` of states that are JSON objects; engines refuse impossible candidates."""

from collections.abc import Iterator
from typing import Any

from rlparity.engine import State


def fewer_entries(state: State) -> Iterator[State]:
    """Yield states with some entries of one list removed, the largest cuts first."""
    for name, value in state.items():
        if isinstance(value, list):
            yield from ({**state, name: kept} for kept in without_parts(value))


def smaller_numbers(state: State) -> Iterator[State]:
    """Yield states with one number or flag, also within an object, nearer to 0, the largest steps first."""
    for name, value in state.items():
        yield from ({**state, name: smaller} for smaller in nearer_to_0(value))


def without_parts(entries: list[Any]) -> Iterator[list[Any]]:
    """Yield a list without a half of it, without a quarter, and so on down to a single entry."""
    size = -(-len(entries) // 2)
    while size:
        for first in range(0, len(entries), size):
            yield entries[:first] + entries[first + size :]
        size = -(-size // 2) if size > 1 else 0


def nearer_to_0(value: Any) -> Iterator[Any]:  # noqa: ANN401 - of JSON
    """Yield numbers nearer to 0 than a number, 0 first; objects with one such number; false instead of true."""
    if isinstance(value, dict):
        yield from ({**value, name: smaller} for name, part in value.items() for smaller in nearer_to_0(part))
    elif value is True:
        yield False
    elif type(value) is int:
        sign, size = (1, value) if value > 0 else (-1, -value)
        yield from (sign * smaller for smaller in dict.fromkeys((0, 1, size // 2, size - 1)) if 0 <= smaller < size)
