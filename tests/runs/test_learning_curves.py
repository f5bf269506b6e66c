"""The script that draws the learning curves of several runs: which runs it reads, and what it refuses."""

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from parity.errors import UsageError
from worldkit.pictures import drawn, literal
from worldkit.runs.sinks import CsvLog

SCRIPT = Path(__file__).parents[2] / "python" / "scripts" / "learning_curves.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def run_of(folder: Path, *returns: float) -> Path:
    """The folder of a run that logged these returns, a million steps and half an hour apart."""
    folder.mkdir()
    with CsvLog(folder / "metrics.csv") as log:
        for nth, each in enumerate(returns, 1):
            metrics = {"timesteps": 1e6 * nth, "seconds": 1800.0 * nth, "train/mean_episode_return": each}
            log.write({"update": nth, **metrics})
    return folder


def test_a_curve_is_steps_hours_and_returns(script: dict[str, Any], tmp_path: Path) -> None:
    first, second = run_of(tmp_path / "a", -1.0, 2.0), run_of(tmp_path / "b", 3.0)
    group = script["group_of"](f"both={first},{second}")
    assert group.name == "both"
    np.testing.assert_array_equal(group.runs[0], [[1, 0.5, -1], [2, 1, 2]])
    np.testing.assert_array_equal(group.runs[1], [[1, 0.5, 3]])


def test_an_interval_in_which_no_episode_ended_is_left_out(script: dict[str, Any], tmp_path: Path) -> None:
    group = script["group_of"](f"one={run_of(tmp_path / 'a', float('nan'), 2.0)}")
    np.testing.assert_array_equal(group.runs[0], [[2, 1, 2]])


def test_metrics_of_something_else_are_one_sentence(script: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "metrics.csv").write_text("step,loss\n1,2\n")
    with pytest.raises(UsageError, match="There are no returns in"):
        script["group_of"](f"one={tmp_path}")


@pytest.mark.parametrize("text", ["checkpoints/a", "=checkpoints/a", "quick=", "quick=/nowhere"])
def test_what_names_no_runs_is_one_sentence(script: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError) as fault:
        script["group_of"](text)
    assert len(str(fault.value).splitlines()) == 1


def test_a_picture_has_every_group_in_its_legend(
    script: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = [f"{name}={run_of(tmp_path / name, -1.0, 2.0)}" for name in ("quick", "win")]
    monkeypatch.setattr(sys, "argv", ["learning_curves.py", *groups, "--picture", str(tmp_path / "drawn.png")])
    script["main"]()
    assert (tmp_path / "drawn.png").read_bytes().startswith(b"\x89PNG")
    figure = script["figure_of"]([script["group_of"](text) for text in groups])
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["quick", "win"]
    assert [len(axis.get_lines()) for axis in figure.axes] == [2, 2]


def test_names_of_groups_are_no_mathematics_and_none_is_left_out(script: dict[str, Any], tmp_path: Path) -> None:
    run = run_of(tmp_path / "a", -1.0, 2.0)
    figure = script["figure_of"]([script["group_of"](f"{name}={run}") for name in ("_a", "$^$", "b")])
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["_a", r"\$^\$", "b"]
    drawn(figure)


def test_a_literal_text_is_drawn_as_it_is() -> None:
    def picture(text: str, **kwargs: bool) -> bytes:
        figure = Figure(figsize=(3, 1))
        figure.suptitle(text, **kwargs)
        return drawn(figure)

    for text in ("a", "$", "$a$", r"\$a$\$", "_ $^$ {"):
        assert picture(literal(text)) == picture(text, parse_math=False), text
    assert picture(literal("a\udcff$")) == picture(r"a\udcff$", parse_math=False)
