"""Sources of actions, and the texts and source lines of rules."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import orchard, rlparity
from faulty_orchard import WORLD
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rlparity import UsageError
from rlparity.core.sources import choose_actions
from rlparity.tools.rules import rule_text, source_lines


@given(arrays.arrays(np.bool_, (7, 5)), st.integers(0, 100), st.booleans())
def test_every_action_is_valid_or_invalid_as_asked_where_one_is(mask: np.ndarray, seed: int, valid: bool) -> None:
    actions = choose_actions(np.random.default_rng(seed), np.ones((7, 5)), mask, 0.0 if valid else 1.0)
    for row, action in enumerate(actions):
        assert 0 <= action < 5
        assert mask[row, action] == valid or (mask[row] != valid).all()


def test_actions_are_drawn_in_proportion_to_their_weights() -> None:
    mask = np.tile([True, True, False, True], (40_000, 1))
    weights = np.tile([1.0, 3.0, 50.0, 0.0], (40_000, 1))
    drawn = np.bincount(choose_actions(np.random.default_rng(0), weights, mask, 0.0), minlength=4)
    assert drawn[2] == drawn[3] == 0
    assert abs(drawn[1] / 40_000 - 0.75) < 0.01


def test_no_weight_on_a_valid_action_means_uniform() -> None:
    mask = np.tile([True, True, False], (3000, 1))
    drawn = np.bincount(choose_actions(np.random.default_rng(0), np.tile([0.0, 0, 1], (3000, 1)), mask, 0.0))
    assert len(drawn) == 2
    assert min(drawn) > 1300


@pytest.mark.parametrize("weights", [np.ones((2, 2)), np.full((2, 3), np.nan), np.full((2, 3), -1.0)])
def test_weights_that_are_none_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(UsageError, match="the policy's weights"):
        choose_actions(np.random.default_rng(0), weights, np.ones((2, 3), dtype=bool), 0.0)


def broken(*_: object) -> Any:  # noqa: ANN401 - it returns nothing
    raise KeyError("leaf")


@pytest.mark.parametrize(
    ("parts", "words", "fault"),
    [
        ({"policies": {"lazy": broken}, "starts": {}}, (), "the policy 'lazy' fails with KeyError: 'leaf'"),
        ({"starts": {"late": broken}}, (), "the start 'late' fails with KeyError: 'leaf'"),
        ({"read_agent": broken}, ("--source", "policy:pyproject.toml"), "reading the agent pyproject.toml fails"),
        ({"read_agent": lambda *_: broken}, ("--source", "policy:pyproject.toml"), "the policy fails with KeyError"),
        ({"shrinkers": (broken,)}, ("--engines", "plain,restless", "--steps", "200"), "a shrinker fails with KeyError"),
        ({"draw": broken}, ("--engines", "plain,restless", "--steps", "200"), "drawing a state of world"),
    ],
)
def test_an_exception_in_a_world_s_own_code_is_one_sentence(
    parts: dict[str, Any], words: tuple[str, ...], fault: str, tmp_path: Path
) -> None:
    refusal = rlparity("run", "--source", "directed", "--out", tmp_path, *words, world=orchard(**parts)).refusal(2)
    assert fault in refusal
    assert refusal.endswith(" (--traceback shows where): correct it.\n")


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
