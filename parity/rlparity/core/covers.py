"""Minimum exact covers: the fewest sets that hold each of some names once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
MOST_STATES = 1000
"""Sets of names that are left at a time, before a search is given up: to find a minimum exact cover is NP-hard."""


def smallest_covers(sets: Mapping[Key, set[str]], names: set[str]) -> Iterator[list[tuple[Key, ...]]]:
    """Up to two smallest exact covers of each group of names that share no set; none of a group without a cover.

    Raises OverflowError where there are too many ways to search.
    """
    for group in _groups(sets, names):
        having: dict[str, list[tuple[Key, set[str]]]] = {name: [] for name in group}
        for key, members in ((key, members) for key, members in sets.items() if members & group):
            for name in members:
                having[name].append((key, members))
        yield _smallest(having, frozenset(group))


def _groups(sets: Mapping[Key, set[str]], names: set[str]) -> list[set[str]]:
    """The names, in order, in the groups that share no set."""
    group_of = {name: {name} for name in sorted(names)}
    for members in sets.values():
        apart = {id(group): group for group in (group_of[name] for name in members)}
        joined, *others = sorted(apart.values(), key=len, reverse=True)
        for other in others:
            joined |= other
            group_of.update(dict.fromkeys(other, joined))
    return [*{id(group): group for group in group_of.values()}.values()]


def _smallest(having: Mapping[str, list[tuple[Key, set[str]]]], names: frozenset[str]) -> list[tuple[Key, ...]]:
    """Up to two smallest covers, searched by their size; ways that leave the same names are one."""
    left: dict[frozenset[str], list[tuple[Key, ...]]] = {names: [()]}
    while left and frozenset() not in left:
        if len(left) > MOST_STATES:
            raise OverflowError
        then: dict[frozenset[str], list[tuple[Key, ...]]] = {}
        for rest, covers in left.items():
            for key, members in having[min(rest)]:
                if members <= rest:
                    found = then.setdefault(rest - members, [])
                    found += [(*cover, key) for cover in covers[: 2 - len(found)]]
        left = then
    return left.get(frozenset(), [])
