"""brain-view: an agent's moments, their pictures, a window and files of them, and its command line."""

import math
import runpy
import signal
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pygame
import pytest
import torch
from command_line import run
from numpy.typing import NDArray
from PIL import Image

from goodharts.agents import agent_of
from goodharts.architecture import NetworkConfig
from goodharts.brain_view.brain import Brain
from goodharts.brain_view.layers import heat
from goodharts.brain_view.picture import HEIGHT, WIDTH, draw_picture, draw_surface
from goodharts.cli import brain_view as command
from goodharts.evaluation.lives import play
from goodharts.models import Model, write_model
from goodharts.render.signs import draw_food, draw_poison
from goodharts.render.surroundings import around
from goodharts.rules import DEFAULT_NUMBERS, FOOD, MODES, POISON, REACH, SIZE, Numbers
from goodharts.torch_networks import ActorCritic
from goodharts.world import evaluation_world
from rlparity.errors import UsageError
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.choice import DRAWN, LIKELIEST, Choice
from rlworldkit.render.colours import GROUND
from rlworldkit.render.pen import Pen, pixels
from rlworldkit.watch.controls import Controls
from rlworldkit.watch.frames import Frame

ROOT = Path(__file__).resolve().parents[2]
CNN = NetworkConfig("cnn", channels=(4, 8), hidden=32)
MLP = NetworkConfig("mlp", hidden=32, privileged=False)
NOTHING_TO_EAT = Numbers(start_energy=30, evaluation_food=0, evaluation_poison=0)
"""An agent lives for three steps."""


def model(mode: str = "ground_truth", network: NetworkConfig = CNN, **config: dict[str, Any]) -> Model:
    """An untrained agent that has strong opinions nevertheless."""
    torch.manual_seed(5)
    policy = ActorCritic(network)
    torch.nn.init.orthogonal_(policy.policy.weight, 3.0)
    return Model(mode, network, config, 1, 2, policy)


def brain(numbers: Numbers = DEFAULT_NUMBERS, seed: int = 0) -> Brain:
    return Brain(model(), numbers, seed=seed)


def after(one: Brain, steps: int) -> Brain:
    """An agent after so many steps of all its lives."""
    for _ in chain.from_iterable(one.lives(steps)):
        pass
    return one


class TestBrain:
    @pytest.mark.parametrize(("seed", "steps"), [(0, 1), (7, 6), (2**64 - 1, 3)])
    def test_what_it_sees_is_around_it(self, seed: int, steps: int) -> None:
        one = after(brain(seed=seed), steps)
        channels, layers, decision = one.thoughts()
        assert np.array_equal(channels, [around(one.state, REACH) == kind for kind in (FOOD, POISON)])
        assert [name for name, _ in layers] == ["conv1_relu", "conv2_relu", "dense_relu"]
        assert decision.probabilities.sum() == pytest.approx(1)
        assert decision.value is not None
        assert one.steps == steps

    def test_its_trail_is_where_it_was_and_takes_the_short_way_over_an_edge(self) -> None:
        longest, places = 0, list[tuple[int, int]]()
        one = brain(NOTHING_TO_EAT, seed=3)
        for life in one.lives(60):
            places.clear()
            for _ in life:
                trail = [((one.state["x"] + dx) % SIZE, (one.state["y"] + dy) % SIZE) for dx, dy in one.trail]
                assert trail == places
                places.append((one.state["x"], one.state["y"]))
                longest = max(longest, *(max(map(abs, place)) for place in one.trail or [(0, 0)]))
        assert 0 < longest <= 3

    @pytest.mark.parametrize("choice", [Choice(LIKELIEST), Choice(DRAWN)])
    def test_its_lives_are_those_of_an_evaluation(self, choice: Choice) -> None:
        numbers = Numbers(start_energy=200, evaluation_food=3000, evaluation_poison=3000)
        agent = model(network=MLP)
        player = AgentPlayer(agent_of(agent), choice)
        open_engine = evaluation_world(MODES["ground_truth"], numbers).engines["torch"]
        lives = play(open_engine, lambda engine: player, 1, 60, seed=4)
        last = after(Brain(agent, numbers, seed=4, choice=choice), 60)
        assert (last.deaths, last.food, last.poison) == tuple(lives[name].sum() for name in ("died", "food", "poison"))
        assert last.deaths > 0
        assert last.food > 0

    def test_a_death_is_a_moment_of_its_own_and_then_comes_the_next_life(self) -> None:
        one, moments = brain(NOTHING_TO_EAT), list[tuple[Any, ...]]()
        for _ in chain.from_iterable(one.lives(4)):
            moments.append((one.energies[-1], one.is_dead, one.news))
        died = "died at the age of 3, starved"
        assert [energy for energy, _, _ in moments] == [
            *((1, energy) for energy in (0.03, 0.02, 0.01, 0.0)),
            (2, 0.03),
            (2, 0.02),
        ]
        assert [is_dead for _, is_dead, _ in moments] == [False, False, False, True, False, False]
        assert [news for _, _, news in moments] == ["life 1 begins", "", "", died, "life 2 begins", ""]
        assert (one.deaths, one.state["steps"], one.steps, len(one.trail)) == (1, 1, 4, 1)

    def test_what_it_eats_is_told_and_counted(self) -> None:
        numbers = Numbers(evaluation_food=4096, evaluation_poison=4096, poison_energy=-60_000)
        one, news = brain(numbers), list[str]()
        for _ in chain.from_iterable(one.lives(40)):
            news.append(one.news)
        assert news.count("ate food") == one.food > 0
        assert sum(each.endswith("poisoned") for each in news) == one.deaths == one.poison > 0

    def test_a_life_that_is_left_early_is_no_death(self) -> None:
        one = brain()
        lives = one.lives()
        next(next(lives))
        next(next(lives))
        assert (one.life, one.deaths, one.steps) == (2, 0, 0)


class TestPictures:
    @pytest.mark.parametrize(
        ("mode", "network"),
        [("ground_truth", CNN), ("proxy", MLP), ("proxy", NetworkConfig()), ("ground_truth", NetworkConfig("mlp"))],
    )
    def test_every_network_and_mode_has_its_picture(self, network: NetworkConfig, mode: str) -> None:
        picture = draw_picture(after(Brain(model(mode, network)), 1))
        assert picture.shape == (HEIGHT, WIDTH, 3)
        assert picture.dtype == np.dtype(np.uint8)
        assert_margins_are_clear(picture)

    @pytest.mark.parametrize(
        ("maps", "units"), [([], [1]), ([600, 1], [9000, 9000]), ([16, 32, 32], [512]), ([], [9000, 1])]
    )
    def test_layers_of_any_size_stay_inside(
        self, maps: list[int], units: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shapes: list[tuple[int, ...]] = [(1, depth, 11, 11) for depth in maps] + [(1, width) for width in units]
        one = after(brain(), 1)
        layers = [("layer", np.ones(shape, np.float32)) for shape in [*shapes, (1, 8)]]
        monkeypatch.setattr(one.judge, "layers", lambda seen: layers)
        assert_margins_are_clear(draw_picture(one))

    def test_silent_layers_are_dark_and_more_is_lighter_in_grey_too(self) -> None:
        assert np.array_equal(heat(np.zeros((2, 2), np.float32), 0.0), heat(np.zeros((2, 2), np.float32), 1.0))
        lightness = heat(np.linspace(0, 1, 256, dtype=np.float32), 1.0) @ np.array([0.2126, 0.7152, 0.0722])
        assert np.all(np.diff(lightness) >= -0.5)
        assert lightness[-1] - lightness[0] > 200

    def test_food_and_poison_differ_by_shape(self) -> None:
        def shape(draw: Callable[[Pen, tuple[float, float], float], None]) -> NDArray[np.bool_]:
            pen = Pen.on((18, 18), GROUND)
            draw(pen, (9, 9), 6)
            return (pixels(pen.finished()) != GROUND).any(axis=2)

        food, poison = shape(draw_food), shape(draw_poison)
        assert (food != poison).sum() > 0.3 * (food | poison).sum()

    def test_a_dead_agent_is_drawn_and_no_window_is_needed(self) -> None:
        pygame.quit()
        one = after(brain(NOTHING_TO_EAT), 3)
        assert one.is_dead
        dead = draw_picture(one)
        one.is_dead = False
        assert not np.array_equal(dead, draw_picture(one))
        assert not pygame.display.get_init()


def assert_margins_are_clear(picture: NDArray[np.uint8]) -> None:
    """Nothing is drawn over the edges, nor over the line at the bottom that belongs to the keys."""
    is_ground = (picture == GROUND).all(axis=2)
    for area in (is_ground[:, :20], is_ground[:, WIDTH - 20 :], is_ground[HEIGHT - 7 :], is_ground[696:, 606:]):
        assert area.all()


@pytest.mark.parametrize("name", ["lives.mp4", "lives.GIF"])
def test_a_film_has_a_picture_for_every_moment(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    written = command.record(brain(NOTHING_TO_EAT), path, 4, fps=5)
    frames, seconds = imageio_ffmpeg.count_frames_and_secs(path)
    assert (written, frames, seconds) == (6, 6, pytest.approx(1.2, abs=0.05))
    assert next(imageio_ffmpeg.read_frames(path))["size"] == (WIDTH, HEIGHT)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_picture_is_the_last_moment(tmp_path: Path) -> None:
    assert command.record(brain(), tmp_path / "life.png", 2, fps=5) == 1
    with Image.open(tmp_path / "life.png") as image:
        assert np.array_equal(np.asarray(image), draw_picture(after(brain(), 2)))


class TestWindow:
    @pytest.fixture(autouse=True)
    def pretended_display(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pygame.display.quit()
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")

    def watch(self, keys: Iterable[int], *, speed: float = 0.5, steps: float = math.inf) -> tuple[Controls, Brain]:
        """Watch an agent with these keys; returns the controls and the agent."""
        one, controls = brain(), Controls(speed, 240)
        pygame.display.init()
        for key in keys:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=key))
        command.view(one, controls, steps)
        return controls, one

    def test_it_lives_on_until_its_steps_are_made_and_more_of_them_than_pictures_can_be_due(self) -> None:
        viewing, one = self.watch([], speed=240, steps=9)
        assert (one.steps, viewing.is_paused) == (9, False)

    def test_keys_do_what_the_page_says(self) -> None:
        for keys, steps, is_paused, speed in (
            ((pygame.K_RIGHT, pygame.K_s), 2, True, 0.4),
            ((pygame.K_SPACE, pygame.K_p), 0, False, 0.4),
            ((pygame.K_UP, pygame.K_PLUS), 0, False, 1.6),
            ((pygame.K_DOWN, pygame.K_MINUS), 0, False, 0.1),
        ):
            viewing, one = self.watch([*keys, pygame.K_q], speed=0.4)
            assert (one.steps, viewing.is_paused, viewing.speed) == (steps, is_paused, speed)
        _, one = self.watch([pygame.K_n, pygame.K_ESCAPE])
        assert (one.life, one.deaths) == (2, 0)

    def test_keys_are_on_the_picture(self) -> None:
        plain, hinted = (pixels(draw_surface(after(brain(), 1), hints)) for hints in ("", "space: pause"))
        is_other = (plain != hinted).any(axis=2)
        assert is_other[696:, 606 : WIDTH - 20].any()
        assert not is_other[:696].any()


class TestCommand:
    @pytest.fixture(autouse=True)
    def folder_with_a_model(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "models").mkdir()
        write_model(Path("models/ppo_proxy.pth"), model("proxy", MLP))

    def test_a_mode_is_recorded_from_its_documented_model(self) -> None:
        ran = run(command.main, "--mode", "proxy", "--record", "life.png", "--steps", "3", "--deterministic")
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("Saved life.png: 1 picture, 3 steps with ")
        assert Path("life.png").stat().st_size > 10_000

    def test_a_model_says_its_mode_and_its_world(self) -> None:
        world, evaluation = {"start_energy": 0.03}, {"food": 0, "poison": 0}
        write_model(Path("mine.pth"), model("proxy_mortal", MLP, world=world, evaluation=evaluation))
        ran = run(command.main, "--model", "mine.pth", "--record", "life.png", "--steps", "7")
        assert ran == (0, "Saved life.png: 1 picture, 7 steps with 0 food, 0 poison and 2 deaths.\n", "")

    def test_an_interrupted_recording_is_saved_as_far_as_it_went(self, monkeypatch: pytest.MonkeyPatch) -> None:
        follow = Brain._follow

        def interrupted(one: Brain, frame: Frame) -> None:
            if one.steps == 2:
                signal.raise_signal(signal.SIGINT)
            follow(one, frame)

        monkeypatch.setattr(Brain, "_follow", interrupted)
        ran = run(command.main, "--mode", "proxy", "--record", "life.mp4", "--steps", "500")
        assert ran.code == 0
        assert ran.out.startswith("Saved life.mp4: 4 pictures, 3 steps with ")
        assert imageio_ffmpeg.count_frames_and_secs("life.mp4")[0] == 4

    def test_it_opens_a_window_where_there_is_a_display(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pygame.display.quit()
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        monkeypatch.setattr(command, "has_display", lambda: True)
        assert command.main(["--mode", "proxy", "--steps", "2", "--fps", "240"]) == 0
        assert not pygame.display.get_init()

    def test_no_display_says_what_to_give(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(command, "has_display", lambda: False)
        with pytest.raises(UsageError, match=r"^There is no display to open a window on: add --record FILE\.mp4 .*\.$"):
            command.main(["--mode", "proxy"])


def main_py(words: list[str]) -> int:
    """Run main.py as a script."""
    sys.argv = [str(ROOT / "main.py"), *words]
    runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


def test_main_py_is_the_command_and_says_what_to_do_before_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", list(sys.path))
    ran = run(main_py, "brain-view", "--mode", "proxy", "--record", "life.png")
    assert ran.refusal().startswith("There is no model models/ppo_proxy.pth: train one")
    monkeypatch.setitem(sys.modules, "goodharts.cli.main", None)
    assert run(main_py).refusal().endswith("run `make setup` once, and then .venv/bin/python main.py.\n")
