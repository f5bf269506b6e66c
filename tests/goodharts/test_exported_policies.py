"""Exported policies of Goodharts: what the model says, onnxruntime says, and an evaluation finds the same."""

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from evaluated import small_model

from goodharts.agents import Judge
from goodharts.architecture import NETWORKS, NetworkKind
from goodharts.cli.main import PROGRAM, main
from goodharts.models import write_model
from rlworldkit.agents.reader import read_agent

WORDS = "--games", "4", "--steps", "30", "--device", "cpu", "--deterministic", "--json", "-"


@pytest.fixture(scope="module", params=NETWORKS)
def kind(request: pytest.FixtureRequest) -> NetworkKind:
    return request.param


@pytest.fixture(scope="module")
def exported(kind: NetworkKind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy beside the model that it is of."""
    folder = tmp_path_factory.mktemp("models")
    model, policy = folder / "ppo_proxy.pth", folder / "policy.onnx"
    write_model(model, small_model(kind=kind, world={"start_energy": 0.2}))
    assert run(main, "export", model, "--output", policy).code == 0
    return policy


def test_the_policy_says_what_the_model_says(exported: Path, kind: NetworkKind) -> None:
    seen = np.random.default_rng(0).random((9, 2, 11, 11)).astype(np.float32)
    logits, values = read_agent(PROGRAM.world_of(None, exported), exported)(seen, np.ones((9, 8), np.bool_))
    expected = Judge(small_model(kind=kind)).logits(seen)
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4)
    assert np.isnan(values).all(), "the critic knew more than the observation"


def test_an_evaluation_finds_the_same(exported: Path) -> None:
    model = exported.with_name("ppo_proxy.pth")
    of_policy, of_model = (run(main, "evaluate", "--model", path, *WORDS) for path in (exported, model))
    assert of_policy.json == of_model.json
    assert of_policy.code == 0


def test_a_policy_is_watched_in_its_mode(exported: Path) -> None:
    assert PROGRAM.world_of(None, exported).name == "goodharts-proxy"
    refusal = run(main, "evaluate", "--model", exported, "--mode", "ground_truth").refusal
    assert "is of mode proxy, not of ground_truth" in refusal()
    searched = run(main, "evaluate", "--model", exported, "--search", "2x2", "--games", "1", "--steps", "1")
    assert "has no value, which a search needs: leave --search out" in searched.err
