"""Texts of rules from a rule book, and the lines of an engine's source that have a mark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from faulty_orchard import WORLD

from rlparity.tools.rules import rule_text, source_lines


def lines(name: str, engine: str = "plain") -> list[str]:
    found = source_lines(WORLD, engine, name)
    return [path.read_text().splitlines()[line - 1].strip() for path, line in found]


def test_a_rule_is_found_by_its_id_in_bold_in_a_heading_or_in_a_table() -> None:
    assert rule_text(WORLD, "O-MOVE") == "A move goes one cell in its direction, within the board."
    assert rule_text(WORLD, "O-END") == "The game ends without apples or at hp 0."
    assert rule_text(WORLD, "O-STING") == "STING, -500 for each sting"
    assert rule_text(WORLD, "O-REST") == "rules.md does not have it."
    assert rule_text(replace(WORLD, rule_book=None), "O-MOVE") == "world 'orchard' names no rule book."
    missing = replace(WORLD, rule_book=Path("none.md"))
    assert rule_text(missing, "O-MOVE") == "the rule book is not installed: read none.md in a checkout."


def test_the_line_of_a_mark_is_where_it_is_counted_in_each_engine() -> None:
    assert lines("sting")[0] == 'self.marks["sting"] += 1'
    assert lines("sting", "planes")[0] == '("sting", stung),'
    assert lines("end.dead")[0].startswith('self.marks["end.picked" if')
    assert lines("O-STING")[0] == '"""O-WASP, O-STING; the hp lost."""'
    assert lines("sting", "nan") == lines("nothing at all") == []


def test_a_source_that_cannot_be_read_has_no_lines(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("sting = 1")
    (tmp_path / "plain.py").write_text("sting = 2")
    read_text = Path.read_text

    def read(path: Path, **given: str) -> str:
        if path.stem == "secret":
            raise PermissionError(13, "Permission denied")
        return read_text(path, **given)

    monkeypatch.setattr(Path, "read_text", read)
    world = replace(WORLD, sources={"plain": tmp_path})
    assert source_lines(world, "plain", "sting") == [(tmp_path / "plain.py", 1)]
