"""Content of a written page, and the writing of it."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written_page import episode_data, page_data

from rlparity import Board, World
from rlparity.core.compare import value_text
from rlparity.viewer.page import Curve, Episode, Page, Step
from rlparity.viewer.write import packed, step_data, write_page
from rlworldkit.render.colours import AGENT, BAD, FLOOR, GROUND, MUTED, TEXT

from . import games
from .games import WORLD

TEXTS = st.text("ab <", max_size=3)
VALUES = st.one_of(st.integers(), st.floats(), st.booleans(), TEXTS)
BOARDS = st.builds(
    Board,
    st.lists(st.lists(TEXTS, max_size=3).map(tuple), max_size=3).map(tuple),
    st.dictionaries(st.sampled_from(["hp", "score", "turn"]), VALUES),
)
ONE_CELL = Board((("x",),), {})


def written(page: Page, path: Path, world: World = WORLD) -> str:
    """The text of the page's file."""
    write_page(page, world, path)
    return path.read_text(encoding="utf-8")


@given(st.lists(BOARDS, min_size=1, max_size=2).map(tuple))
@settings(max_examples=60, deadline=None)
def test_every_board_is_read_back_as_it_was(boards: tuple[Board, ...]) -> None:
    text = f'<script type="text/plain" id="episode-0">{packed(step_data(Step("a", boards)))}</script>'
    for board, shown in zip(boards, episode_data(text, 0)["boards"], strict=True):
        assert shown["rows"] == [list(row) for row in board.rows]
        assert shown["scalars"] == [[name, value_text(value)] for name, value in board.scalars.items()]


def test_the_list_says_how_long_an_episode_was_what_it_earned_and_how_it_ended(tmp_path: Path) -> None:
    text, same = (written(games.page(6, games.CURVES), tmp_path / "page.html") for _ in range(2))
    assert text == same
    rows = page_data(text)["episodes"]
    for number, row in enumerate(rows):
        earned = [sum(step.components[0]) for step in games.episode(number).steps if step.components]
        assert row["actions"] == len(earned) == games.LENGTH + number
        assert row["return"] == pytest.approx(sum(earned) / 1000)
    assert rows[3]["end"] == {"level": "stage 2", "cause": "two wasps", "row": 0, "column": 1}
    assert rows[5]["end"] is None
    assert [row["differs"] for row in rows] == [None] * 6


def test_what_is_no_number_to_json_is_a_text(tmp_path: Path) -> None:
    shown = (Step("start", (ONE_CELL,)), Step("a", (ONE_CELL,), ((math.nan, 2**70, -0.0),)))
    curve = Curve("loss", (1, 2, 3), (math.nan, 0.5, math.inf))
    text = written(Page("h", ("one",), (Episode("e", "", shown),), curves=(curve,)), tmp_path / "page.html")
    assert page_data(text)["episodes"][0]["return"] == "NaN"
    assert page_data(text)["curves"] == [{"name": "loss", "steps": [2], "values": [0.5]}]
    assert episode_data(text, 0)["steps"][1]["components"] == [[0, "NaN"], [1, str(2**70)]]
    # zeros of another sign are shown where two sides have them
    step = Step("a", (ONE_CELL, ONE_CELL), ((0.0, 0, 1), (-0.0, 0, 1)))
    assert step_data(step)["components"] == [[0, "0.0", "-0.0"], [2, "1", "1"]]


def test_episodes_are_taken_one_by_one_and_none_is_kept(tmp_path: Path) -> None:
    taken: list[str] = []

    def steps(number: int) -> Iterator[Step]:
        for step in games.steps(number, 2):
            taken.append(f"step of {number}")
            yield step

    def episodes() -> Iterator[Episode]:
        for number in range(3):
            taken.append(f"episode {number}")
            yield Episode(str(number), "", steps(number))

    write_page(Page("h", ("one",), episodes()), WORLD, tmp_path / "page.html")
    assert taken == [name for number in range(3) for name in (f"episode {number}", *[f"step of {number}"] * 3)]


def test_a_page_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def failing() -> Iterator[Episode]:
        yield games.episode(0)
        raise RuntimeError("the engine died")

    path = tmp_path / "page.html"
    path.write_text("before")
    with pytest.raises(RuntimeError, match="the engine died"):
        write_page(Page("h", ("one",), failing()), WORLD, path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_the_page_has_the_colours_of_the_pictures_and_of_the_world(tmp_path: Path) -> None:
    text = written(games.page(1), tmp_path / "page.html")
    shared = {"ground": GROUND, "floor": FLOOR, "text": TEXT, "muted": MUTED, "agent": AGENT, "differs": BAD}
    for name, colour in shared.items():
        assert f"--{name}: rgb({' '.join(map(str, colour))});" in text
    assert page_data(text)["colours"] == {"W": "#5ee0d6", "w": "#f6a04e"}
    plain = written(games.page(1), tmp_path / "page.html", replace(WORLD, colour_of=None))
    assert page_data(plain)["colours"] == {}
