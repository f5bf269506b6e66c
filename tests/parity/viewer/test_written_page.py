"""Content of a written page, and the writing of it."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from written_page import episode_data, page_data

from rlparity import Board, World
from rlparity.viewer.page import Curve, Page, PageEpisode, PageStep
from rlparity.viewer.write import step_data, write_page

from . import games
from .games import WORLD

ONE_CELL = Board((("x",),), {})


def written(page: Page, path: Path, world: World = WORLD) -> str:
    """The text of the page's file."""
    write_page(page, world, path)
    return path.read_text(encoding="utf-8")


def test_what_is_no_number_to_json_is_a_text(tmp_path: Path) -> None:
    shown = (PageStep("start", (ONE_CELL,)), PageStep("a", (ONE_CELL,), ((math.nan, 2**70, -0.0),)))
    curve = Curve("loss", (1, 2, 3), (math.nan, 0.5, math.inf))
    text = written(Page("h", ("one",), (PageEpisode("e", "", shown),), curves=(curve,)), tmp_path / "page.html")
    assert page_data(text)["episodes"][0]["return"] == "NaN"
    assert page_data(text)["curves"] == [{"name": "loss", "steps": [2], "values": [0.5]}]
    assert episode_data(text, 0)["steps"][1]["components"] == [[0, "NaN"], [1, str(2**70)]]
    # zeros of another sign are shown where two sides have them
    step = PageStep("a", (ONE_CELL, ONE_CELL), ((0.0, 0, 1), (-0.0, 0, 1)))
    assert step_data(step)["components"] == [[0, "0.0", "-0.0"], [2, "1", "1"]]


def test_episodes_are_taken_one_by_one_and_none_is_kept(tmp_path: Path) -> None:
    taken: list[str] = []

    def steps(number: int) -> Iterator[PageStep]:
        for step in games.steps(number, 2):
            taken.append(f"step of {number}")
            yield step

    def episodes() -> Iterator[PageEpisode]:
        for number in range(3):
            taken.append(f"episode {number}")
            yield PageEpisode(str(number), "", steps(number))

    write_page(Page("h", ("one",), episodes()), WORLD, tmp_path / "page.html")
    assert taken == [name for number in range(3) for name in (f"episode {number}", *[f"step of {number}"] * 3)]


def test_a_page_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def failing() -> Iterator[PageEpisode]:
        yield games.episode(0)
        raise RuntimeError("the engine died")

    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(RuntimeError, match="the engine died"):
        write_page(Page("h", ("one",), failing()), WORLD, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
