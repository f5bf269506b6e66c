"""Strict JSON: NaN and the infinities, for which JSON has no numbers, are the texts of ``NUMBERS``."""

import json
import math
from typing import Any

from rlparity.spaces import is_number

NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Text in JSON -> number. ``float`` in Python and ``Number`` in JavaScript read these texts too."""


def json_text(value: object, **options: Any) -> str:  # noqa: ANN401 - those of json.dumps
    """The strict JSON text of a value, with the options of ``json.dumps``; a reader calls ``number_of``."""
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:  # few values hold such a number, so that only these are copied
        return json.dumps(_strict(value), allow_nan=False, **options)


def is_json_number(value: object) -> bool:
    """Accept a number as ``json_text`` writes it; integers are of 64 bits."""
    return is_number(value) or (isinstance(value, str) and value in NUMBERS)


def number_of(value: object) -> Any:  # noqa: ANN401 - whatever JSON can say
    """The number that a text stands for, where a JSON value is a number; any other value as it is."""
    return NUMBERS.get(value, value) if isinstance(value, str) else value


def _strict(value: object) -> object:
    if isinstance(value, dict):
        return {name: _strict(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(part) for part in value]
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
