"""Where commands print to: what is long stays whole in a file."""

import sys
from pathlib import Path

import pytest
from rich.table import Table

from parity.console import open_console

LONG = "x" * 300


def printed(monkeypatch: pytest.MonkeyPatch, path: Path, width: int | None) -> list[str]:
    with path.open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        console = open_console(width=width)
        console.print(LONG)
        table = Table("heading", "other")
        table.add_row(LONG, "y")
        console.print(table)
    return path.read_text().splitlines()


def test_in_a_file_nothing_is_wrapped_and_tables_are_as_wide_as_their_cells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lines = printed(monkeypatch, tmp_path / "out.txt", None)
    assert lines[0] == LONG
    assert {len(line) for line in lines[1:]} == {len(LONG) + 12}


def test_a_page_of_a_fixed_width_has_it_in_a_file_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert max(map(len, printed(monkeypatch, tmp_path / "out.txt", 100))) == 100


def test_a_terminal_is_as_wide_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("COLUMNS", "66")
    assert (open_console().width, open_console(width=40).width) == (66, 40)
