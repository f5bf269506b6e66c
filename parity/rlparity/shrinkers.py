"""Smaller states, for ``World.shrinkers``, of states that are JSON objects; engines refuse what no game can be."""

from collections.abc import Iterator
from typing import Any

from rlparity.engine import State


def fewer_entries(state: State) -> Iterator[State]:
    """One list of the state without some of its entries, boldly first."""
    for name, value in state.items():
        if isinstance(value, list):
            yield from ({**state, name: kept} for kept in without_parts(value))


def smaller_numbers(state: State) -> Iterator[State]:
    """One number or flag of the state, or of an object in it, nearer to 0, boldly first."""
    for name, value in state.items():
        yield from ({**state, name: smaller} for smaller in nearer_to_0(value))


def without_parts(entries: list[Any]) -> Iterator[list[Any]]:
    """A list without a half of it, without a quarter, and so on down to a single entry."""
    size = -(-len(entries) // 2)
    while size:
        for first in range(0, len(entries), size):
            yield entries[:first] + entries[first + size :]
        size = -(-size // 2) if size > 1 else 0


def nearer_to_0(value: Any) -> Iterator[Any]:  # noqa: ANN401 - of JSON
    """Numbers nearer to 0 than a number, 0 itself first; an object with one such number; false instead of true."""
    if isinstance(value, dict):
        yield from ({**value, name: smaller} for name, part in value.items() for smaller in nearer_to_0(part))
    elif value is True:
        yield False
    elif type(value) is int:
        sign, size = (1, value) if value > 0 else (-1, -value)
        yield from (sign * smaller for smaller in dict.fromkeys((0, 1, size // 2, size - 1)) if 0 <= smaller < size)
