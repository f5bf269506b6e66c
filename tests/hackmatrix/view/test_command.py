"""The command as a person types it, what it refuses, and `watch --record` of a page."""

import os
from pathlib import Path

import pytest
from written_page import episode_data, page_data

from hackmatrix.cli.main import main
from tests.hackmatrix.conftest import CommandRefused


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


def test_mistakes_are_one_sentence(refused: CommandRefused, params: Path, tmp_path: Path) -> None:
    notes, trace, damaged = (tmp_path / name for name in ("notes.txt", "trace.json", "params_2.npz"))
    notes.write_text("")
    trace.write_text("{}")
    damaged.write_bytes(b"damaged")
    (tmp_path / "empty").mkdir()
    for words, sentence in (
        (["/no/such/thing"], "there is no /no/such/thing"),
        ([notes], "is nothing that can be viewed"),
        ([damaged], "cannot be read"),
        ([trace], "is no trace"),
        ([trace, "--max-steps", "9"], "a trace brings its own game: leave out --max-steps"),
        (
            [params, "--output", "/no/such/folder/page.html"],
            "/no/such/folder/page.html cannot be written: No such file",
        ),
        ([params, "--output", tmp_path], "cannot be written"),
        ([params, "--hidden-dim", "64"], "--hidden-dim 16"),
        ([tmp_path / "empty"], "holds no run: name a folder that training wrote"),
    ):
        assert sentence in refused("view", *words)


def test_a_recorded_page_has_exactly_the_games_watched(swift_built: None, params: Path, tmp_path: Path) -> None:
    watched, viewed = tmp_path / "watched.html", tmp_path / "viewed.html"
    words = [str(params), "--episodes", "3", "--seed", "8", "--max-steps", "20", "--player-seed", "3"]
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
