"""``rlparity.debug.here``: the debugger's screen at the present state of an environment."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics, TimeLimit
from orchard import WORLD

from rlparity import UsageError
from rlparity.debug import here
from rlparity.debug.screen import DebugApp
from rlworldkit.envs.gym_env import WorldEnv
from rlworldkit.envs.vector_env import WorldVectorEnv

REST = 5


@pytest.fixture
def screens(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The screens of a terminal, in each of which somebody looks at the state, takes a step and leaves."""
    seen: list[str] = []

    def run(app: DebugApp) -> None:
        async def keys() -> None:
            async with app.run_test(size=(80, 48)) as pilot:
                await pilot.press("6")
                await pilot.pause()
                seen.append("\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips()))
                await pilot.press("n", "q")

        asyncio.run(keys())

    terminal = SimpleNamespace(isatty=lambda: True)
    monkeypatch.setattr("rlparity.debug.attach.sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    monkeypatch.setattr(DebugApp, "run", run)
    yield seen
    assert seen


def single() -> gym.Env[Any, Any]:
    return TimeLimit(WorldEnv(WORLD, engine="planes"), 50)


@pytest.mark.parametrize(
    ("make", "index"),
    [
        (lambda: RecordEpisodeStatistics(single()), 0),
        (lambda: SyncVectorEnv([single, single]), 1),
        (lambda: WorldVectorEnv(WORLD, 2, engine="planes"), 1),
    ],
)
def test_the_state_of_an_environment_of_gymnasium_is_shown_and_stays(
    make: Callable[[], Any], index: int, screens: list[str]
) -> None:
    env = make()
    env.reset(seed=3)
    for _ in range(4):
        env.step([REST, REST] if index else REST)
    here(env, index)
    assert "orchard, fork 0 of 1, step 0" in screens[0]
    assert re.search(r"planes.* plain", screens[0]), "its own engine, and the world's first other one"
    assert re.search(r"turn +4 +4\n", screens[0])
    env.step([REST, REST] if index else REST)
    here(env, index)
    assert re.search(r"turn +5 +5\n", screens[1])
    env.close()


def test_without_a_terminal_it_is_one_sentence_and_wrong_arguments_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with closing(WorldVectorEnv(WORLD, 2)) as games:
        here(games)
        assert capsys.readouterr().out == "rlparity.debug.here: the screen needs a terminal: run it in one.\n"
        with pytest.raises(UsageError, match="there is no game 2: the games are 0 to 1"):
            here(games, 2)
    with pytest.raises(UsageError, match="CartPoleEnv is no environment of rlworldkit in this process"):
        here(gym.make("CartPole-v1"))
