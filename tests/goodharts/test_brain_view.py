"""brain-view: an agent's lives by the rules of an evaluation, and the picture with the layers of its network."""

import runpy
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from command_line import run
from evaluated import small_model
from single_games import made

from goodharts.cli.main import main
from goodharts.models import in_evaluation, write_model
from goodharts.render.board import around
from goodharts.rules import FOOD, MODES, POISON, REACH, Numbers
from goodharts.world import WORLDS, evaluation_world, game_seeds
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.reader import read_agent
from rlworldkit.envs.episodes import Episodes
from rlworldkit.show.watch.frames import frames

ROOT = Path(__file__).resolve().parents[2]
DIES_IN_THREE_STEPS: Any = {"world": {"start_energy": 0.03}, "evaluation": {"food": 0, "poison": 0}}


@pytest.fixture(autouse=True)
def folder_with_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    write_model(Path("models/ppo_proxy.pth"), small_model(privileged=False, **DIES_IN_THREE_STEPS))


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


def test_a_mode_is_recorded_life_after_life_in_the_world_of_its_model() -> None:
    ran = run(main, "brain-view", "--mode", "proxy", "--record", "life.mp4", "--steps", "7", "--render", "ansi")
    assert ran.code == 0
    assert ran.out.count("game 0: died after 3 steps, return 0.000\n") == 2 * 2  # in its last frame, and after it
    assert "game 0: left after 1 step" in ran.out
    assert imageio_ffmpeg.count_frames_and_secs("life.mp4")[0] == 7 + 3  # each life begins with a frame of its own
    assert next(imageio_ffmpeg.read_frames("life.mp4"))["size"] == (1260, 800)


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


def test_main_py_is_the_command_and_says_what_to_do_before_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
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
