"""Values of a command line at the ends of their ranges, and just outside them."""

import math
from typing import Any

import pytest

from rlparity.io.arguments import FileName, FloatRange, IntRange, OneOf, Values
from rlparity.io.atomic_write import LONGEST_NAME

WHOLE, SHARE, RATE = IntRange(1, 9), FloatRange(0, 1), FloatRange(0, 1, above=True)


@pytest.mark.parametrize(
    ("values", "value"),
    [
        *((WHOLE, value) for value in (1, 9)),
        *((SHARE, value) for value in (0, 0.0, 1, 1.0)),
        *((RATE, value) for value in (5e-324, 1)),
        *((FileName(), value) for value in ("a", "a b.c", "é" * (LONGEST_NAME // 2))),
        (OneOf(("on", "off")), "off"),
    ],
)
def test_it_may_be(values: Values, value: object) -> None:
    assert values.fault(value) is None
    assert values(str(value)) == value


@pytest.mark.parametrize(
    ("values", "value"),
    [
        *((WHOLE, value) for value in (0, 10, 1.0, True, "1", None)),
        *((SHARE, value) for value in (-5e-324, 1.0000001, math.nan, math.inf, "0", None)),
        *((RATE, value) for value in (0, -1, 1.5, math.nan)),
        *((FileName(), value) for value in ("", " ", ".a", "-a", "a/b", "a\\b", "a\n", "é" * LONGEST_NAME, 1, None)),
        *((OneOf(("on", "off")), value) for value in ("", "On", 1, None)),
    ],
)
def test_it_may_not_be(values: Values, value: Any) -> None:  # noqa: ANN401 - of whatever type it is
    fault = values.fault(value)
    assert fault is not None
    assert fault.startswith("must be ")
