"""Wrong files made of good ones: bytes flipped, cut and inserted, and values of a decoded tree put in others' place."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rlparity.errors import ParityError

WRONG: list[Any] = [None, True, -1, 0, 3, 2**40, 2**70, 10**400, 1.5, -0.5, float("nan"), float("inf")]
WRONG += ["", "text", "two\nlines", "\ud800", "é" * 300, [], [[]], [1], {}, {"": {}}, {"a\n": [None]}]
ARRAYS: list[Any] = [b"", b"bytes", np.zeros(0), np.zeros(3), np.full(2, np.nan), np.zeros((2, 2), np.int64)]
ARRAYS += [np.array("text"), np.zeros((0, 10**9)), np.array([1 + 2j])]


def is_one_line(error: BaseException) -> bool:
    """The project's own kind of error, in one line."""
    return isinstance(error, ParityError) and str(error).isprintable()


def said_or_read(read: Callable[[], object]) -> str | None:
    """The one line with which a reader refuses a file; None where it reads it. Any other error is the test's."""
    said = None
    try:
        read()
    except ParityError as error:
        said = str(error)
    assert said is None or said.isprintable()
    return said


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """Bytes with some of them flipped, cut or inserted."""
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(changed)))
        kind = draw(st.sampled_from(("flip", "cut", "end", "insert", "set")))
        if kind == "insert":
            changed[place:place] = draw(st.binary(min_size=1, max_size=8))
        elif kind == "end":
            del changed[place:]
        elif kind == "cut":
            del changed[place : place + draw(st.integers(1, 64))]
        elif place < len(changed):
            changed[place] = (
                changed[place] ^ 1 << draw(st.integers(0, 7)) if kind == "flip" else draw(st.integers(0, 255))
            )
    return bytes(changed)


@st.composite
def altered(draw: st.DrawFn, tree: Any, values: Sequence[Any]) -> Any:  # noqa: ANN401 - a tree of plain values
    """The tree with one or two values replaced, removed, added or moved."""
    tree = copy.copy(tree)
    for _ in range(draw(st.integers(1, 2))):
        tree = _changed(draw, tree, values)
    return tree


def _changed(draw: st.DrawFn, tree: Any, values: Sequence[Any]) -> Any:  # noqa: ANN401 - as above
    wrong = draw(st.sampled_from([*values]))
    if not isinstance(tree, (dict, list)) or not tree or draw(st.integers(0, 9)) == 0:
        return wrong
    tree = copy.copy(tree)
    places = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
    place = draw(st.sampled_from(places))
    kind = draw(st.sampled_from(("into", "into", "into", "remove", "add", "swap")))
    if kind == "into":
        tree[place] = _changed(draw, tree[place], values)
    elif kind == "remove":
        del tree[place]
    elif kind == "add" and isinstance(tree, dict):
        tree[draw(st.sampled_from(("", "new", "two\nlines", "x" * 300)))] = wrong
    elif kind == "add":
        tree.insert(place, wrong)
    else:
        other = draw(st.sampled_from(places))
        tree[place], tree[other] = tree[other], tree[place]
    return tree
