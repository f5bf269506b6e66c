"""Output of commands: long lines stay whole in a file, every encoding takes every text, and typed commands run."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rlparity.io.arguments import Parser
from rlparity.io.console import open_console, typed_command
from rlparity.io.table import Table

LONG = "x" * 300
Print = Callable[[str], Callable[[], bytes]]


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> Print:
    """Replaces standard output by one of this encoding; the function that it returns gives what has been printed."""

    def use(encoding: str) -> Callable[[], bytes]:
        buffer = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(buffer, encoding=encoding, write_through=True))
        return buffer.getvalue

    return use


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
    bare = Table("heading", "", box=None, title="title", title_justify="left", pad_edge=False)
    bare.add_row(LONG, "y")
    bare.add_row("short", "z" * 200)
    with (tmp_path / "bare.txt").open("w") as file:
        monkeypatch.setattr(sys, "stdout", file)
        open_console().print(bare)
    title, heading, long, short = (tmp_path / "bare.txt").read_text().splitlines()
    assert (title, heading, long) == ("title", "heading", f"{LONG}  y"), "a long cell pads no other line"
    assert short.endswith("z")
    # a page of a fixed width has it in a file too
    assert max(map(len, printed(monkeypatch, tmp_path / "out.txt", 100))) == 100


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("ascii", b"~ 1 - 2 - 3 x 4 > 5 ** -\\u20ac \\xfc \xff\n"),
        ("latin-1", b"~ 1 - 2 - 3 \xd7 4 > 5 ** -\\u20ac \xfc \xff\n"),
        ("utf-8", "… 1 − 2 – 3 × 4 → 5 ♥♥ ♡€ ü ".encode() + b"\xff\n"),
    ],
)
def test_what_an_encoding_lacks_is_printed_as_something_similar_or_as_its_code(
    encoded: Print, encoding: str, expected: bytes
) -> None:
    text = "… 1 − 2 – 3 × 4 → 5 ♥♥ ♡€ ü " + os.fsdecode(b"\xff")
    content = encoded(encoding)
    open_console().print(text)
    assert content() == expected

    content = encoded(encoding)
    Parser()
    print(text)
    assert content() == expected


@pytest.mark.parametrize(
    ("program", "is_activated", "folder"),
    [("goodharts", False, "."), ("rlparity", True, "python"), ("rlparity", False, Path(sys.executable).parent)],
)
def test_a_shell_finds_a_typed_command_from_every_directory(
    program: str, is_activated: bool, folder: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_activated:
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(root / folder)
    line = f'set -- {typed_command(program, "none", "--help")}; command -v "$1"; echo "$2"'
    found, words = subprocess.run(line, shell=True, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert Path(found).samefile(Path(sys.executable).with_name(program))
    assert words == "--help"
