"""What is watched is what `evaluate` plays, and keys change nothing but the pace."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hackmatrix.evaluation import EVALUATION
from hackmatrix.view_spec import VIEW
from hackmatrix.world import WORLD
from worldkit.envs.episodes import Episodes
from worldkit.evaluation.play import play_episodes
from worldkit.evaluation.players import player_of
from worldkit.runs.stop import StopRequest
from worldkit.watch.agents import load_agent
from worldkit.watch.controls import FASTEST, SLOWEST, Controls, play
from worldkit.watch.frames import AgentPlayer, Frame, games
from worldkit.watch.text import likeliest_first

MOST_STEPS = 80


@pytest.fixture
def episodes(swift_built: None) -> Iterator[Episodes]:
    with contextlib.closing(Episodes(WORLD, 1, "swift", max_episode_steps=MOST_STEPS)) as opened:
        yield opened


@pytest.mark.parametrize("deterministic", [True, False])
def test_what_is_watched_is_what_evaluate_plays(episodes: Episodes, params: Path, deterministic: bool) -> None:
    player = player_of(EVALUATION, str(params), deterministic=deterministic, seed=5)
    expected = play_episodes(EVALUATION, player, 40, 8, num_envs=8, engine="swift", max_steps=MOST_STEPS)
    watched = AgentPlayer(load_agent(VIEW, params), deterministic=deterministic, player_seed=5)
    for game, episode in zip(games(VIEW, episodes, watched, 40, 8), expected, strict=True):
        *_, last = game
        assert (last.seed, last.ending, last.step) == (episode.seed, episode.ending, episode.stats["steps"])
        assert dict(zip(WORLD.components, last.earned.tolist(), strict=True)) == episode.stats["reward_breakdown"]


def test_a_moment_tells_the_step_that_led_to_it(episodes: Episodes, params: Path) -> None:
    (game,) = games(VIEW, episodes, AgentPlayer(load_agent(VIEW, params), deterministic=False), 7, 1)
    first, *others = game
    assert (first.seed, first.step, first.decision, first.ending) == (7, 0, None, None)
    assert not first.earned.any()
    earned = np.zeros(len(WORLD.components))
    for number, moment in enumerate(others, start=1):
        earned += moment.reward
        np.testing.assert_allclose(moment.earned, earned, atol=1e-9)
        assert moment.step == number
        assert moment.decision is not None
        assert moment.decision.probabilities.sum() == pytest.approx(1)
        assert moment.decision.probabilities[moment.decision.action] > 0
        assert moment.decision.action in likeliest_first(moment.decision)[:8]
    assert [moment.ending is None for moment in others] == [True] * (len(others) - 1) + [False]


class Pretended:
    """A screen that is told which keys are pressed at which moment, and what is shown."""

    def __init__(self, keys: dict[int, str]) -> None:
        self._keys = {step: list(pressed) for step, pressed in keys.items()}
        self.shown: list[tuple[int, int, str]] = []
        self._step = 0

    def show(self, moment: Frame, controls: Controls) -> None:
        self._step = moment.step
        self.shown.append((moment.seed, moment.step, controls.pace))

    def key(self, seconds: float) -> str | None:
        pressed = self._keys.get(self._step, [])
        if not pressed:
            time.sleep(seconds)
        return pressed.pop(0) if pressed else None


def watch(episodes: Episodes, params: Path, keys: dict[int, str], count: int = 2) -> tuple[Pretended, list[Frame]]:
    """Watch games at 100 actions a second."""
    screen = Pretended(keys)
    played = games(VIEW, episodes, AgentPlayer(load_agent(VIEW, params), deterministic=False), 0, count)
    return screen, list(play(played, screen, Controls(100), StopRequest()))


def test_n_goes_on_to_the_next_game_and_q_ends_all(episodes: Episodes, params: Path) -> None:
    screen, lasts = watch(episodes, params, {3: "n", 4: "q"}, count=5)
    assert [(last.seed, last.step) for last in lasts] == [(0, 3), (1, 4)]
    assert lasts[0].verdict.startswith("game 0: left in stage 1 after 3 steps, return ")
    assert max(step for _, step, _ in screen.shown) == 4


def test_while_it_is_paused_s_takes_one_step_and_the_space_goes_on(episodes: Episodes, params: Path) -> None:
    screen, _ = watch(episodes, params, {2: " s", 3: "s", 4: " ", 6: "q"}, count=1)
    paces = {step: pace for _, step, pace in screen.shown}
    assert [step for step, pace in paces.items() if pace.startswith("paused")] == [2, 3]
    assert list(paces) == [0, 1, 2, 3, 4, 5, 6]


def test_the_speed_doubles_and_halves_between_its_ends() -> None:
    controls = Controls(4)
    controls.press("+")
    controls.press("=")
    assert controls.pace == "16 actions/s"
    for _ in range(20):
        controls.press("+")
    assert controls.speed == FASTEST
    for _ in range(20):
        controls.press("-")
    assert controls.speed == SLOWEST
    controls.press("x")
    assert controls.pace == "0.1 actions/s"
