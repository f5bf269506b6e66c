"""Gymnasium's spaces as plain values and back, as far as a policy needs them."""

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from parity.safe_read import is_count, is_object, quoted
from parity.strict_json import is_json_number, number_of

MOST_VALUES = 2**18
"""Limit to the numbers of an observation that a file describes."""
_MOST_PARTS = 100
_DTYPES = ("float32", "float64", "uint8", "int8", "int16", "int32", "int64")


class SpaceError(Exception):
    """A value that describes no space."""


def space_to_json(space: "spaces.Space[Any]") -> dict[str, Any] | None:
    """Return a Box, Discrete or MultiBinary space, or a Dict of them, as plain values; None for another one.

    A Box keeps only its outermost bounds.
    """
    if isinstance(space, spaces.Dict):
        parts = {name: space_to_json(part) for name, part in space.spaces.items()}
        return None if None in parts.values() else {"kind": "Dict", "spaces": parts}
    if isinstance(space, spaces.Box):
        bounds = {"low": space.low.min().item(), "high": space.high.max().item()}
        return {"kind": "Box", "shape": list(space.shape), "dtype": str(space.dtype), **bounds}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "n": space.n if isinstance(space.n, int) else list(space.shape)}
    return None


def space_from_json(value: object) -> "spaces.Space[Any]":
    """Read a space from plain values; raises SpaceError where they describe none."""
    if is_object(value) and value.keys() == {"kind", "spaces"} and value["kind"] == "Dict":
        parts = value["spaces"]
        if not is_object(parts) or not 0 < len(parts) <= _MOST_PARTS:
            raise SpaceError("a Dict space in it has no parts, or too many")
        space = spaces.Dict({name: _simple_space(part) for name, part in parts.items()})
        if spaces.flatdim(space) > MOST_VALUES:
            raise SpaceError(f"its observations have more than {MOST_VALUES:,} numbers")
        return space
    return _simple_space(value)


def _simple_space(value: object) -> "spaces.Space[Any]":
    if not is_object(value):
        raise SpaceError("a space in it is no object")
    match value:
        case {"kind": "Box", "shape": shape, "dtype": dtype, "low": low, "high": high}:
            # models of earlier versions have null for infinity
            bounds = (-math.inf if low is None else number_of(low), math.inf if high is None else number_of(high))
            is_known = isinstance(dtype, str) and dtype in _DTYPES
            is_bounded = all(bound is None or is_json_number(bound) for bound in (low, high))
            if _is_shape(shape) and is_known and is_bounded:
                try:
                    return spaces.Box(*bounds, tuple(shape), np.dtype(dtype).type)
                except Exception as error:
                    raise SpaceError(f"a Box in it has bounds that {dtype} does not have") from error
        case {"kind": "Discrete", "n": n, "start": start}:
            if is_count(n, MOST_VALUES) and n and is_count(start, MOST_VALUES):
                return spaces.Discrete(n, start=start)
        case {"kind": "MultiBinary", "n": n}:
            if n and _is_shape(n if isinstance(n, list) else [n]):
                return spaces.MultiBinary(n)
    raise SpaceError(f"a space in it, of the kind {quoted(value.get('kind'))}, is none that MaskablePPO takes")


def _is_shape(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= 8
        and all(is_count(length, MOST_VALUES + 1) and length for length in value)
        and math.prod(value) <= MOST_VALUES
    )
