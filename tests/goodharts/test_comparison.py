"""Comparison: one table and one picture of all players, from models or from the JSON of evaluations."""

import json
from pathlib import Path

import pytest
from command_line import run
from evaluated import evaluation_by_hand, lives_of, small_model, write_models
from matplotlib.image import imread

from goodharts.cli.main import main
from goodharts.evaluation.report import EvaluationResult, as_json, figures, read_results
from goodharts.models import write_model


def nobody_ate() -> EvaluationResult:
    """One game of chance, in which there was neither a meal nor a second game to compare with."""
    settings = {"games": 1, "steps": 40, "seed": 0, "deterministic": False, "device": "cpu"}
    return EvaluationResult("random", "1", None, settings, {}, figures(lives_of((0, 40, 0, 0, False))))


BOTH = [evaluation_by_hand(), nobody_ate()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, in which commands run, with models and the JSON of two evaluations."""
    monkeypatch.chdir(tmp_path)
    write_models(tmp_path / "mine", "proxy", "ground_truth")
    (tmp_path / "one.json").write_text(as_json(BOTH[:1]))
    (tmp_path / "other.json").write_text(as_json(BOTH[1:]))
    return tmp_path


def test_models_that_there_are_play_and_chance_does_too(folder: Path) -> None:
    flags = "--games 4 --steps 40 --deterministic --json all.json --picture all.png"
    ran = run(main, "compare", "--models", "mine", *flags.split())
    assert (ran.code, "proxy: 4 games of 40 steps, likeliest actions" in ran.out) == (0, True)
    assert [each.player for each in read_results(folder / "all.json")] == ["ground_truth", "proxy", "random"]
    assert imread(folder / "all.png").shape[2] == 4


def test_files_of_evaluations_are_compared_as_they_are(folder: Path) -> None:
    ran = run(main, "compare", "one.json", "other.json", "--json", "-")
    assert (ran.code, ran.out) == (0, as_json(BOTH))
    assert "published" in ran.err


def test_groups_of_models_are_compared_by_a_figure(folder: Path) -> None:
    for name in ("one", "other"):
        (folder / name / "models").mkdir(parents=True)
        write_model(folder / name / "models" / "ppo_proxy.pth", small_model(training={"seed": 7}))
    assert run(main, "export", "other/models/ppo_proxy.pth", "--output", "other.onnx").code == 0
    groups = "--group several=mine,one --group one=other.onnx"
    flags = "--games 4 --steps 40 --figure survival --json all.json --markdown - --picture all.png"
    ran = run(main, "compare", *groups.split(), *flags.split())
    assert ran.code == 0
    assert "| several over one |" in ran.out
    found = json.loads((folder / "all.json").read_text())
    assert found["score"] == "survival"
    agents = [run["agent"] for run in found["groups"]["several"]["runs"]]
    assert agents == ["mine/ppo_ground_truth.pth", "mine/ppo_proxy.pth", "one/models/ppo_proxy.pth"]
    assert found["pairs"][0]["paired_seeds"] == [7]
    few = run(main, "compare", *groups.split(), "--games", "1", "--steps", "1")
    assert (few.code, "Every score of group several is NaN: let its runs play more games" in few.err) == (2, True)
    (folder / "empty").mkdir()
    assert "There is no model in empty" in run(main, "compare", "--group", "some=one,empty").err
    assert imread(folder / "all.png").shape[2] == 4
