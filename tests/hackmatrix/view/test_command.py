"""The command as a person types it, what it refuses, and `watch --record` of a page."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from written_page import episode_data, page_data

from hackmatrix.cli.main import main


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says that it cannot do, in one line, with exit code 2."""
    with pytest.raises(SystemExit) as caught:
        main(["view", *words])
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    return said


def test_the_page_lies_in_the_working_directory_and_says_how_to_make_it_again(
    swift_built: None,
    run_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = next(run_folder.rglob("params_900.npz"))
    assert main(["view", str(agent), "--episodes", "2", "--max-steps", "4", "--seed", "5"]) == 0
    name = "hackmatrix-20260101-000000-seed0-params_900.html"
    assert capsys.readouterr().out == f"Written: {name}\n"
    assert os.listdir() == [name]
    data = page_data((tmp_path / name).read_text(encoding="utf-8"))
    assert data["command"].endswith(f"hackmatrix view {agent} --episodes 2 --max-steps 4 --seed 5")
    assert [episode["name"] for episode in data["episodes"]] == ["seed 5", "seed 6"]


def test_mistakes_are_one_sentence(capsys: pytest.CaptureFixture[str], params: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    (tmp_path / "trace.json").write_text("{}")
    (tmp_path / "params_2.npz").write_bytes(b"damaged")
    one = str(params)
    assert "there is no /no/such/thing" in refused(["/no/such/thing"], capsys)
    assert "is nothing that can be viewed" in refused([str(tmp_path / "notes.txt")], capsys)
    assert "cannot be read" in refused([str(tmp_path / "params_2.npz")], capsys)
    assert "is no trace" in refused([str(tmp_path / "trace.json")], capsys)
    assert "a trace brings its own game: leave out --max-steps" in refused(
        [str(tmp_path / "trace.json"), "--max-steps", "9"], capsys
    )
    assert "cannot write /no/such/folder/page.html" in refused([one, "--output", "/no/such/folder/page.html"], capsys)
    assert "cannot write" in refused([one, "--output", str(tmp_path)], capsys)
    assert "--hidden-dim 16" in refused([one, "--hidden-dim", "64"], capsys)
    assert "--episodes" in refused([one, "--episodes", "0"], capsys)
    assert "not allowed with argument" in refused([one, "--deterministic", "--stochastic"], capsys)


def test_a_folder_without_a_run_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "holds no run: name a folder that training wrote" in refused([str(tmp_path)], capsys)


def test_a_missing_engine_is_one_sentence_and_leaves_the_older_page(
    params: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HACKMATRIX_BINARY", str(tmp_path / "nothing"))
    page = tmp_path / "page.html"
    page.write_text("an older one")
    assert "./swift-build" in refused([str(params), "--output", str(page)], capsys)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("page.html", "an older one")]


@pytest.mark.parametrize("how", [[], ["--stochastic", "--player-seed", "3"]])
def test_a_recorded_page_has_exactly_the_games_watched(
    swift_built: None, params: Path, tmp_path: Path, how: list[str]
) -> None:
    watched, viewed = tmp_path / "watched.html", tmp_path / "viewed.html"
    words = [str(params), "--episodes", "3", "--seed", "8", "--max-steps", "20", *how]
    assert main(["watch", *words, "--record", str(watched), "--render", "ansi"]) == 0
    assert main(["view", *words, "--output", str(viewed)]) == 0
    one, other = (path.read_text(encoding="utf-8") for path in (watched, viewed))
    assert page_data(one)["episodes"] == page_data(other)["episodes"]
    for number in range(3):
        steps = zip(episode_data(one, number)["steps"], episode_data(other, number)["steps"], strict=True)
        for alone, in_batch in steps:
            thoughts = [step.pop("value", None) for step in (alone, in_batch)]  # rounded as the batch wants it
            assert thoughts[0] == pytest.approx(thoughts[1], abs=1e-5)
            likely = [dict(step.pop("probabilities", None) or ()) for step in (alone, in_batch)]
            assert likely[0] == pytest.approx(likely[1], abs=1e-4)
            assert alone == in_batch


def test_a_page_says_that_it_was_searched(
    swift_built: None, params: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def first_valid(seen: object, masks: NDArray[np.bool_], *_: object) -> NDArray[np.int32]:
        return masks.argmax(axis=1).astype(np.int32)

    # a search itself would compile for long
    monkeypatch.setattr("worldkit.evaluation.searcher.searcher_of", lambda *_, seed: first_valid)
    page = tmp_path / "page.html"
    words = ["--search", "2x2", "--player-seed", "9", "--episodes", "2", "--max-steps", "2", "--output", str(page)]
    assert main(["view", str(params), *words]) == 0
    written = page_data(page.read_text(encoding="utf-8"))
    assert written["headline"] == "params_1.npz, a search of 2×2 steps: games 0 to 1"
    (about,) = written["about"]
    assert about.startswith("Before every step a search, with seed 9, looked for something better")
