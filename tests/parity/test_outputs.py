"""Files that commands write: checked before any work, by one function, and written through links."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import rlparity
from faulty_orchard import WORLD

from rlparity import UsageError
from rlparity.io.atomic_write import check_output, replacing, write_output, write_text
from rlparity.viewer.page import Page
from rlparity.viewer.write import write_page
from rlworldkit.render.film import film

LONG = "x" * 255
BAD = "", ".", "/", "..", "none/..", "folder", "file/x", "loop", "pipe", "null", LONG, f"folder/{LONG}x", "a\0b"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with things that are no files."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "null").symlink_to("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_written_is_refused_before_and_by_every_writer(name: str, here: Path) -> None:
    before = sorted(here.iterdir())
    path = Path(name)
    for write in (check_output, lambda path: check_output(path, makes_folders=True), lambda path: write_text(path, "")):
        with pytest.raises(UsageError, match=r"cannot be written: .+; name another file\.$"):
            write(path)
    assert sorted(here.iterdir()) == before


def test_a_folder_that_takes_no_file_or_is_missing_is_noticed(here: Path) -> None:
    with pytest.raises(UsageError, match="No such file or directory"):
        check_output(Path("none/file"))
    check_output(Path("none/more/file"), makes_folders=True)
    for makes_folders in (False, True):
        with pytest.raises(UsageError, match="cannot be written: "):
            check_output(Path("/proc/none/file"), makes_folders=makes_folders)
    assert not (here / "none").exists()


def page(path: Path) -> None:
    write_page(Page("h", ("one",), ()), WORLD, path)


def picture(path: Path) -> None:
    with film(path, (16, 16), 4) as add:
        add(np.zeros((16, 16, 3), np.uint8))


def text(path: Path) -> None:
    write_text(path, "new")


def output(path: Path) -> None:
    write_output(path, "new")


def content(path: Path) -> None:
    with replacing(path) as file:
        file.write(b"new")


@pytest.mark.parametrize("write", [content, page, picture, text, output])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_link_stays_and_the_file_that_it_points_to_is_written(
    write: Callable[[Path], None], is_there: bool, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "file.gif", tmp_path / "link.gif"
    if is_there:
        file.write_bytes(b"old")
    link.symlink_to("folder/file.gif")
    write(link)
    assert (link.is_symlink(), file.is_symlink(), file.read_bytes() not in (b"", b"old")) == (True, False, True)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file.gif", "folder", "link.gif"]


@pytest.mark.parametrize(
    "words",
    [
        "diff . . --json {}",
        "diff . . --markdown {}",
        "diff . . --html {}",
        "replay trace.json --html {}",
        "debug --write-test {}",
        "run --engines plain,dying --out {}",
        "coverage --engines plain,dying --out {}",
        "record --engines dying,dying --out {}",
        "record --engines dying,dying --tape {}",
        "rewards --engines dying,dying --golden {} --accept",
    ],
)
@pytest.mark.parametrize("name", ["file/x", "/proc/none", "x" * 300])
def test_commands_refuse_an_output_before_they_work(words: str, name: str, here: Path) -> None:
    assert "cannot be written: " in rlparity(*words.format(name).split()).refusal()
