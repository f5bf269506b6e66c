"""Goodharts is watched, played, viewed and exported with the commands of every world, in the mode of its models.

brain-view shows an agent's lives by the rules of an evaluation, and the picture with the layers of its network.
"""

import runpy
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
import torch
from command_line import run
from evaluated import small_model
from single_games import made
from written_page import episode_data, page_data

from goodharts.architecture import NETWORKS, NetworkKind
from goodharts.cli.main import PROGRAM, main
from goodharts.config import model_path
from goodharts.models import in_evaluation, read_model, write_model
from goodharts.render.board import around
from goodharts.rules import ACTIONS, DEFAULT_NUMBERS, FOOD, MODES, POISON, REACH, Numbers
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import keys_of
from goodharts.torch_networks import Inputs
from goodharts.world import WORLDS, evaluation_world, game_seeds
from rlparity.core.trace import Case, Trace, write_trace
from rlparity.errors import UsageError
from rlworldkit.agents.agent import LIKELIEST, AgentPlayer, Choice
from rlworldkit.agents.reader import read_agent
from rlworldkit.envs.episodes import Episodes
from rlworldkit.show.watch.frames import frames

ROOT = Path(__file__).resolve().parents[2]
DIES_IN_THREE_STEPS: Any = {"world": {"start_energy": 0.03}, "evaluation": {"food": 0, "poison": 0}}


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with models of two modes, of which one has a privileged critic."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for mode, privileged in (("ground_truth", True), ("proxy", False)):
        write_model(model_path(mode), small_model(mode, privileged=privileged))
    return tmp_path


def test_the_mode_is_that_of_the_file_unless_it_is_said(models: Path) -> None:
    write_trace(Trace("goodharts-proxy_mortal", ("torch", "jax"), Case((0,), seed=3)), models / "game.json")
    chosen = [(None, None), ("proxy", None), (None, model_path("proxy")), (None, models / "game.json"), (None, models)]
    chosen += [(None, models / "models"), ("proxy", models / "models")]
    names = [PROGRAM.world_of(mode, path).name.removeprefix("goodharts-") for mode, path in chosen]
    assert names == ["ground_truth", "proxy", "proxy", "proxy_mortal", "ground_truth", "ground_truth", "proxy"]
    with pytest.raises(UsageError, match="is of mode proxy, not of ground_truth: leave out --mode"):
        PROGRAM.world_of("ground_truth", model_path("proxy"))


def test_a_privileged_critic_judges_the_complete_state(models: Path) -> None:
    model = read_model(model_path("ground_truth"))
    agent = read_agent(WORLDS["ground_truth"], "ground_truth")
    episodes = Episodes(WORLDS["ground_truth"], 1, engine="torch", max_episode_steps=3)
    watched = list(frames(episodes, AgentPlayer(agent, Choice(LIKELIEST)), 7, 1))
    games = Games(mode := MODES["ground_truth"], 1)
    codes = games.start(keys_of(game_seeds(7, 1)))
    for frame in watched[1:]:
        counts = torch.stack((games.state.food_count, games.state.poison_count), dim=1)
        known = Inputs(mode, DEFAULT_NUMBERS, privileged=True, device=games.device)(codes, counts)
        assert frame.decision is not None
        assert frame.decision.value == pytest.approx(model.policy(*known)[1].item())
        codes = games.step(torch.tensor([frame.decision.action])).codes


def test_a_page_has_the_games_and_says_what_killed(models: Path) -> None:
    assert main(["view", str(model_path("ground_truth")), "--episodes", "2", "--output", "page.html"]) == 0
    text = (models / "page.html").read_text(encoding="utf-8")
    for number, episode in enumerate(page_data(text)["episodes"]):
        steps = episode_data(text, number)["steps"]
        assert episode["verdict"].startswith(f"died after {len(steps) - 1} steps, return ")
        assert episode["verdict"].endswith((", starved", ", poisoned"))
        assert {step["action"] for step in steps[1:]} <= set(ACTIONS)


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
    masks = np.ones((9, 8), np.bool_)
    logits, values = read_agent(PROGRAM.world_of(None, exported), exported)(seen, masks)
    expected, _ = small_model(kind=kind)(seen, masks)
    np.testing.assert_allclose(logits, expected, rtol=1e-4, atol=1e-4)
    assert np.isnan(values).all(), "the critic knew more than the observation"


def test_a_policy_is_watched_in_its_mode(exported: Path) -> None:
    assert PROGRAM.world_of(None, exported).name == "goodharts-proxy"
    refusal = run(main, "evaluate", "--model", exported, "--mode", "ground_truth").refusal
    assert "is of mode proxy, not of ground_truth" in refusal()
    searched = run(main, "evaluate", "--model", exported, "--search", "2x2", "--games", "1", "--steps", "1")
    assert "estimates no values, which a search needs: leave --search out" in searched.err


# brain-view


@pytest.fixture
def dying(models: Path) -> None:
    """A model that dies soon."""
    write_model(model_path("proxy"), small_model(privileged=False, **DIES_IN_THREE_STEPS))


def test_what_it_sees_and_its_hidden_layers_are_those_of_the_step_that_was_decided() -> None:
    agent = small_model("ground_truth", kind="cnn").agent()
    assert agent.layers is not None
    before, *others = frames(Episodes(WORLDS["ground_truth"], 1, max_episode_steps=3), AgentPlayer(agent), 7, 1)
    for frame in others:
        assert frame.decision is not None
        (name, seen), *layers = agent.layers(frame.decision.observation[None])
        assert np.array_equal(seen[0], [around(before.state, REACH) == kind for kind in (FOOD, POISON)])
        assert [name, *(name for name, _ in layers)] == ["seen", "conv1", "conv2", "conv3", "dense"]
        before = frame


@pytest.mark.usefixtures("dying")
def test_a_mode_is_recorded_life_after_life_in_the_world_of_its_model() -> None:
    ran = run(main, "brain-view", "--mode", "proxy", "--record", "life.mp4", "--steps", "7", "--render", "ansi")
    assert ran.code == 0
    assert ran.out.count("game 0: died after 3 steps, return 0.000\n") == 2 * 2  # in its last frame, and after it
    assert "game 0: left after 1 step" in ran.out
    assert imageio_ffmpeg.count_frames_and_secs("life.mp4")[0] == 7 + 3  # each life begins with a frame of its own
    assert next(imageio_ffmpeg.read_frames("life.mp4"))["size"] == (1260, 800)


@pytest.mark.usefixtures("dying")
def test_it_begins_with_game_0_of_an_evaluation_of_the_seed() -> None:
    world, slots = WORLDS["proxy"], np.arange(1)
    shown = Episodes(in_evaluation(world, read_agent(world, "proxy")), 1)
    shown.start(slots, np.array([7], np.uint64))
    numbers = Numbers(start_energy=30, evaluation_food=0, evaluation_poison=0)
    with closing(evaluation_world(MODES["proxy"], numbers).engines["torch"](1)) as engine:
        engine.reset(game_seeds(7, 1), slots)
        assert shown.get_states(slots) == engine.get_state(slots)


def main_py(words: list[str]) -> int:
    """Run main.py as a script."""
    sys.argv = [str(ROOT / "main.py"), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


def test_main_py_is_the_command_and_says_what_to_do_before_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    ran = run(main_py, "brain-view", "--mode", "ground_truth", "--record", "life.png")
    assert ran.refusal().startswith("there is no model models/ppo_ground_truth.pth: train one")
    monkeypatch.setitem(sys.modules, "goodharts.cli.main", None)
    assert run(main_py).refusal().endswith("run `make setup` once, and then .venv/bin/python main.py.\n")


@pytest.mark.parametrize(("x", "y"), [(0, 0), (127, 127), (0, 64), (64, 127)])
def test_what_lies_across_an_edge_is_next_to_the_agent_G1(x: int, y: int) -> None:
    cells = around(made(x, y, food=[(-1, 0)], poison=[(0, 1)]), 2)
    assert np.argwhere(cells == FOOD).tolist() == [[2, 1]]
    assert np.argwhere(cells == POISON).tolist() == [[3, 2]]
