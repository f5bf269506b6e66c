"""Every reader and every damage: a file that is damaged is read, or refused in one line that names it, and soon."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .kinds import KINDS, good
from .mutations import altered, damaged, said_or_read


def too_large(path: Path) -> None:
    path.touch()
    os.truncate(path, 2**33)


NO_FILES: dict[str, tuple[Callable[[Path], object], str]] = {
    "pipe": (os.mkfifo, "it is a pipe, a device or the like"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "it is a pipe, a device or the like"),
    "folder": (lambda path: path.mkdir(), "Is a directory|There is no agent in"),
    "too large": (too_large, "iB, the most that is read of"),
}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "text": lambda content: b"something else\n",
    "no text": lambda content: b"\xff\xfe\0",
    "half": lambda content: content[: len(content) // 2],
    "the end cut off": lambda content: content[:-1],
    "more": lambda content: content + b"\0more",
    "a byte": lambda content: content[:5] + bytes([content[5] ^ 0x80]) + content[6:],
    "nested": lambda content: b"[" * 20_000,
}


@pytest.mark.parametrize("what", NO_FILES)
@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_file_of_a_reasonable_size_is_one_line_that_names_it(name: str, what: str, tmp_path: Path) -> None:
    make, sentence = NO_FILES[what]
    make(tmp_path / name)
    said = said_or_read(lambda: KINDS[name].read(tmp_path / name))
    assert said is not None
    assert name in said
    assert any(each in said for each in sentence.split("|")), said


@pytest.mark.parametrize("name", KINDS)
def test_a_good_file_is_read_and_a_missing_or_damaged_one_too_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, good(name)
    said_or_read(lambda: KINDS[name].read(path))
    path.write_bytes(content)
    KINDS[name].read(path)
    for damage in DAMAGES.values():
        path.write_bytes(damage(content))
        said_or_read(lambda: KINDS[name].read(path))


@pytest.mark.parametrize("examples", [20, pytest.param(5_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", KINDS)
def test_mutated_files_are_read_or_refused_in_one_line(name: str, tmp_path: Path, examples: int) -> None:
    path, kind, whole = tmp_path / name, KINDS[name], good(name)

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(st.data())
    def every_one_is_read_or_refused(data: st.DataObject) -> None:
        is_altered: bool = data.draw(st.booleans()) if kind.wrong else False
        path.write_bytes(
            kind.content(data.draw(altered(kind.tree(), kind.wrong))) if is_altered else data.draw(damaged(whole))
        )
        said_or_read(lambda: kind.read(path))

    every_one_is_read_or_refused()
