"""Parts of directed runs: starts, smaller states, golden episodes, mutants."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from evaluated import small_model
from reading_worlds import PAIRED

from goodharts.exploration import STARTS
from goodharts.models import write_model
from goodharts.rules import ACTIONS, MODES
from goodharts.world import GROUND_TRUTH, WORLDS
from rlparity import State, UsageError, View
from rlparity.cli.main import main
from rlparity.core.source_specs import open_source
from rlparity.testing import assert_golden
from tests.played import check_smaller_states


def draws(name: str, count: int) -> list[State]:
    rng = np.random.default_rng(list(STARTS).index(name))
    return [STARTS[name](rng) for _ in range(count)]


@pytest.mark.parametrize("name", ["scattered", "plenty", "extreme"])
def test_smaller_states_are_smaller_and_mostly_taken(name: str) -> None:
    check_smaller_states(GROUND_TRUTH, GROUND_TRUTH.engines["torch"](1), draws(name, 1)[0])


@pytest.mark.parametrize("other", ["reading", pytest.param("jax", marks=pytest.mark.long)])
@pytest.mark.parametrize("mode", MODES)
def test_no_golden_episode_has_changed_on_any_engine(mode: str, other: str) -> None:
    assert_golden(PAIRED[mode], ("torch", other))


@pytest.mark.long
@pytest.mark.parametrize("mode", ["ground_truth_handhold", "proxy"])
def test_every_fault_is_noticed(mode: str) -> None:
    assert main(["mutants", "--world", f"goodharts-{mode}", "--games", "64", "--steps", "200"]) == 0


@pytest.mark.long
def test_an_edit_that_computes_the_same_leaves_the_program_in_jax_as_it_is(tmp_path: Path) -> None:
    bench = next(each for each in WORLDS["proxy"].benches if each.engine == "jax")
    for part in bench.parts:
        shutil.copytree(bench.source / part, tmp_path / part)
    source = tmp_path / "goodharts/jax_env/rewards.py"
    text = source.read_text()
    programs = []
    for total in ("parts.sum(axis=-1)", "parts.sum(-1)", "parts.max(axis=-1)"):
        source.write_text(text.replace("parts.sum(axis=-1)", total))
        programs.append(bench.program and bench.program(tmp_path))
    assert programs[0] == programs[1] != programs[2]


def test_a_trained_policy_plays_in_its_own_world(tmp_path: Path) -> None:
    model = small_model(privileged=False)
    path = tmp_path / "ppo_proxy.pth"
    write_model(path, model)
    observation = np.random.default_rng(0).random((3, 2, 11, 11), np.float32)
    view = View(observation, np.ones((3, len(ACTIONS)), np.bool_), np.arange(3), lambda slots: [])
    source = open_source(f"policy:{path}", WORLDS["proxy"], 3, np.random.default_rng(0))
    weights = source.weights(view)
    logits = model.policy.logits(torch.from_numpy(observation)).softmax(dim=1).detach().numpy()
    np.testing.assert_allclose(weights / weights.sum(axis=1, keepdims=True), logits, rtol=1e-6)
    with pytest.raises(UsageError, match="trained in mode proxy: give a model of goodharts-ground_truth"):
        open_source(f"policy:{path}", GROUND_TRUTH, 3, np.random.default_rng(0))
