"""Parsers of a written HTML page: its data, read back from its text alone."""

import base64
import gzip
import json
from typing import Any

import pytest

Value = dict[str, Any]


def page_data(text: str) -> Value:
    """Data of the page without its episodes."""
    return _object(_script(text, "application/json", "page"))


def episode_data(text: str, number: int) -> Value:
    """Data of one episode."""
    packed = _script(text, "text/plain", f"episode-{number}")
    return _object(gzip.decompress(base64.b64decode(packed)).decode())


def _script(text: str, kind: str, name: str) -> str:
    _, _, after = text.partition(f'<script type="{kind}" id="{name}">')
    return after.partition("</script>")[0]


def _object(text: str) -> Value:
    value: Value = json.loads(text, parse_constant=pytest.fail)
    return value
