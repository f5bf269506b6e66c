"""The agents that come with the game: every command knows them by name, and they play well."""

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from hackmatrix.agents import AGENTS, BEST
from hackmatrix.cli.main import PROGRAM, main
from hackmatrix.world import WORLD
from rlparity.cli.main import main as rlparity
from rlparity.errors import UsageError
from rlworldkit.cli.players import load
from rlworldkit.evaluation.choice import drawn
from rlworldkit.evaluation.play import play_episodes
from rlworldkit.evaluation.players import agent_file, player_of
from rlworldkit.evaluation.searcher import discount_of
from rlworldkit.ppo.params import load_params, save_params
from rlworldkit.runs.folder import CONFIG
from rlworldkit.watch.agents import load_agent
from tests.hackmatrix.agents import new_params

MIN_RETURN, MIN_STAGE = 410.0, 6.6
"""Limits that `best` must exceed in the mean of 128 games, its actions drawn: return and highest stage."""
LARGEST = 1_500_000
"""Bytes that one agent may take in every clone and every wheel."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_best_plays_well(swift_built: None) -> None:
    agent = load_agent(WORLD, AGENTS[BEST])

    def player(seen: Any, masks: Any, seeds: Any, steps: Any) -> Any:  # noqa: ANN401 - arrays
        return drawn(agent(seen)[0], masks, seeds, steps, 0)

    played = play_episodes(WORLD, player, 0, 128, num_envs=128, engine="swift", max_steps=5000)
    assert np.mean([episode.stats["return"] for episode in played]) > MIN_RETURN
    assert np.mean([episode.stats["highest_stage"] for episode in played]) > MIN_STAGE


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_is_small_and_has_the_settings_of_its_run_beside_it(name: str) -> None:
    path = AGENTS[name]
    assert {array.dtype for array in np.load(path).values()} == {np.dtype(np.float16)}
    assert path.stat().st_size < LARGEST
    assert json.loads((path.parent / CONFIG).read_text())["gamma"] == discount_of(path) > 0.9
    assert WORLD.agent_name(path) == name


def test_every_command_knows_the_best(swift_built: None, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["best"], ["--model", "best"]):  # watch plays it unless another is named
        assert main(["watch", *words, "--max-steps", "2", "--render", "ansi"]) == 0
        assert capsys.readouterr().out.startswith("best, likeliest actions, swift\n")
    assert main(["view", "best", "--episodes", "2", "--max-steps", "2"]) == 0
    assert capsys.readouterr().out == "Written: best.html\n"
    words = ["--episodes", "2", "--num-envs", "2", "--engine", "swift", "--max-steps", "2", "--json", "-"]
    assert main(["evaluate", "best", *words]) == 0
    assert json.loads(capsys.readouterr().out)["episodes"] == 2
    words = ["--engines", "swift,swift", "--games", "2", "--steps", "4"]
    assert rlparity(["run", "--source", "policy:best", *words]) == 0
    assert load(PROGRAM, WORLD, Path(BEST))[0] == agent_file(WORLD, BEST) == AGENTS[BEST]


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_lies_there_under_the_name_goes_before_it(here: Path, is_folder: bool) -> None:
    if is_folder:
        (here / BEST).mkdir()
    else:
        (here / BEST).write_text("something else")
    assert WORLD.agent_at(Path(BEST)) == agent_file(WORLD, BEST) == Path(BEST)
    with pytest.raises(UsageError, match="no agent"):
        load(PROGRAM, WORLD, Path(BEST))
    with pytest.raises(UsageError, match=r"best cannot be read .* Or evaluate random or walk or best\."):
        player_of(WORLD, BEST, deterministic=False, seed=0)


def test_half_precision_is_read_as_single_precision(tmp_path: Path) -> None:
    made, path = new_params(), tmp_path / "params_1.npz"
    save_params(path, jax.tree.map(np.float16, made))
    read = load_params(path)["params"]["policy"]
    for name, values in made["params"]["policy"].items():
        assert read[name].dtype == np.float32
        np.testing.assert_allclose(read[name], values, rtol=1e-3, atol=1e-6)
    logits, values = load_agent(WORLD, path)(np.zeros((3, *WORLD.observation_shape), np.float32))
    assert logits.dtype == values.dtype == np.float32
