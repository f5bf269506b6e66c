"""Strict JSON: NaN and infinities, which JSON numbers lack, are written as the strings of ``NUMBERS``."""

import json
import math
from typing import Any

from rlparity.spaces import is_number

NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""Text in JSON -> number. ``float`` in Python and ``Number`` in JavaScript read these texts too."""


def json_text(value: object, **options: Any) -> str:  # noqa: ANN401 - those of json.dumps
    """Encode a value as strict JSON, with the options of ``json.dumps``; ``number_of`` decodes its numbers."""
    try:
        return json.dumps(value, allow_nan=False, **options)
    except ValueError:  # few values hold NaN or infinity, and only these are copied
        return json.dumps(_strict(value), allow_nan=False, **options)


def is_json_number(value: object) -> bool:
    """Tell whether a JSON value is a number as ``json_text`` writes it; integers must fit 64 bits."""
    return is_number(value) or (isinstance(value, str) and value in NUMBERS)


def number_of(value: object) -> Any:  # noqa: ANN401 - whatever JSON can say
    """Decode a number from a JSON value as ``json_text`` writes it; any other value is returned unchanged."""
    return NUMBERS.get(value, value) if isinstance(value, str) else value


def _strict(value: object) -> object:
    if isinstance(value, dict):
        return {name: _strict(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(part) for part in value]
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value
