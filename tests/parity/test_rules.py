"""Texts of rules from a rule book."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from toy_world import WORLD

from rlparity.tools.rules import rule_text


def test_a_rule_is_found_by_its_id_in_bold_in_a_heading_or_in_a_table() -> None:
    assert rule_text(WORLD, "O-MOVE") == "A move goes one cell in its direction, within the board."
    assert rule_text(WORLD, "O-END") == "The game ends without apples or at hp 0."
    assert rule_text(WORLD, "O-STING") == "STING, -500 for each sting"
    assert rule_text(WORLD, "O-REST") == "rules.md does not have it."
    assert rule_text(replace(WORLD, rule_book=None), "O-MOVE") == "world 'orchard' names no rule book."
    missing = replace(WORLD, rule_book=Path("none.md"))
    assert rule_text(missing, "O-MOVE") == "the rule book is not installed: read none.md in a checkout."
