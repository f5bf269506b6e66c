"""Places in the source of a program."""

from __future__ import annotations

import ast
import linecache
from functools import cache
from typing import Any, NamedTuple


class Place(NamedTuple):
    """An expression in the source."""

    file: str
    line: int
    function: str
    code: str


@cache
def place_of(equation: Any) -> Place:
    """The expression, outside JAX, that made an equation."""
    from jax._src import source_info_util

    frame = source_info_util.user_frame(equation.source_info.traceback)
    if frame is None:
        return Place("unknown", 0, "", equation.primitive.name)
    last = max(frame.start_line, frame.end_line)
    lines = [linecache.getline(frame.file_name, line).encode() for line in range(frame.start_line, last + 1)]
    lines[-1] = lines[-1][: frame.end_column]
    lines[0] = lines[0][frame.start_column :]
    code = " ".join(b"".join(lines).decode(errors="replace").split())
    return Place(frame.file_name, frame.start_line, frame.function_name, code)


@cache
def call_in(code: str) -> tuple[str, frozenset[str | None]]:
    """The name of the function that an expression calls, and the keywords by which; empty where it is no call."""
    try:
        call = ast.parse(f"({code})", mode="eval").body
    except SyntaxError:
        return "", frozenset()
    if not isinstance(call, ast.Call):
        return "", frozenset()
    return ast.unparse(call.func).rpartition(".")[2], frozenset(keyword.arg for keyword in call.keywords)
