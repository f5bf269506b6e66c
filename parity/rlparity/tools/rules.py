"""Texts of a world's rules by their ids, from its rule book in Markdown."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from rlparity.world import World

_LINK = re.compile(r"\[([^]]+)]\([^)]*\)")


def rule_text(world: World, rule: str) -> str:
    """The text of a rule, or a sentence that says why there is none.

    It is what follows the id in bold (``**E6** …``), a heading that begins with it, or the row of a table with the id,
    or with what follows its first hyphen, in a cell.
    """
    if world.rule_book is None:
        return f"world '{world.name}' names no rule book."
    if not world.rule_book.is_file():
        return f"the rule book is not installed: read {world.rule_book.name} in a checkout."
    lines = _lines(world.rule_book)
    named = re.escape(rule)
    bold = re.compile(rf"\W*\*\*{named}\*\*:? *(.*)|#+ {named}\.? +(.*)")
    if found := next((match for match in map(bold.match, lines) if match), None):
        return found[1] or found[2]
    for short in (rule, rule.partition("-")[2]):
        for line in lines:
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if line.startswith("|") and short and short in cells:
                return ", ".join(cells)
    return f"{world.rule_book.name} does not have it."


@cache
def _lines(book: Path) -> list[str]:
    return _LINK.sub(r"\1", book.read_text(encoding="utf-8")).splitlines()
