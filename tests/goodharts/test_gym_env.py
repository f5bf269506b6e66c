"""``Goodharts-v0``, one game and many: Gymnasium's contract, and this game's own."""

import copy
import pickle
import subprocess
import sys
import warnings
from collections import Counter
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv

from goodharts.gym_env import GoodhartsEnv, GoodhartsVectorEnv
from goodharts.rules import ACTIONS, COMPONENTS, MODES, OBSERVATION_SHAPE
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys, unsigned
from parity.errors import EngineError, UsageError
from tests.played import assert_same

Env = gym.Env[Any, Any]
EVERY_MODE = pytest.mark.parametrize("mode", MODES)


def make(mode: str = "ground_truth", **options: Any) -> Env:  # noqa: ANN401 - gym.make's own
    import goodharts  # noqa: F401 - registers Goodharts-v0

    return gym.make("Goodharts-v0", mode=mode, **options)


def play(env: Env, steps: int, seed: int = 0) -> list[Any]:
    """Everything an environment says in ``steps`` random steps, resets included."""
    rng = np.random.default_rng(seed)
    said: list[Any] = [env.reset(seed=seed)]
    for _ in range(steps):
        said.append(env.step(int(rng.integers(len(ACTIONS)))))
        if said[-1][2] or said[-1][3]:
            said.append(env.reset())
    return said


def steps_of(said: list[Any]) -> list[Any]:
    return [each for each in said if len(each) == 5]


def state_of(env: Env) -> dict[str, Any]:
    state: dict[str, Any] = env.unwrapped.get_state()  # type: ignore[attr-defined]
    return state


class TestContract:
    """What every Gymnasium environment must be."""

    @EVERY_MODE
    def test_gymnasium_finds_no_fault(self, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(make(mode).unwrapped)

    def test_it_is_registered_by_the_import_alone(self) -> None:
        program = "import gymnasium as gym, goodharts; print(gym.spec('Goodharts-v0').entry_point)"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "goodharts.gym_env:GoodhartsEnv"

    @EVERY_MODE
    def test_spaces_are_those_of_the_rules_and_a_proxy_sees_poison_as_half_as_interesting_G4_G7(
        self, mode: str
    ) -> None:
        env = make(mode)
        assert env.observation_space == gym.spaces.Box(0.0, 1.0, OBSERVATION_SHAPE, np.float32)
        assert env.action_space == gym.spaces.Discrete(8)
        seen = np.stack([said[0] for said in play(env, 300)])
        if mode in ("ground_truth", "ground_truth_handhold"):
            assert set(np.unique(seen)) == {0.0, 1.0}
            assert not (seen[:, 0] * seen[:, 1]).any()
        else:
            assert set(np.unique(seen)) == {0.0, 0.5, 1.0}
            np.testing.assert_array_equal(seen[:, 0], seen[:, 1])


class TestStart:
    """Seeds and states."""

    @pytest.mark.parametrize("seed", [0, 41, 2**32 + 7, 2**64 - 1])
    def test_a_seed_is_game_0_of_a_run_with_it_G10(self, seed: int) -> None:
        env = make()
        observation, info = env.reset(seed=seed)
        games = Games(MODES["ground_truth"], 3)
        games.start(game_keys(seed, 3))
        state = state_of(env)
        low, high = unsigned(games.state.key[0]).tolist()
        assert info["seed"] % 2**64 == low + (high << 32)
        assert state["key"] == [low, high]
        assert (state["x"], state["y"]) == (int(games.state.x[0]), int(games.state.y[0]))
        assert state["food"] == (games.state.grid[0] == 1).nonzero()[:, 0].tolist()
        assert observation[0].sum() == (games.look()[0] == 1).sum()

    def test_a_mode_that_does_not_exist_is_one_sentence(self) -> None:
        with pytest.raises(UsageError, match=r"no mode 'happy': choose one of ground_truth, .*proxy"):
            GoodhartsEnv(mode="happy")

    def test_without_torch_one_sentence_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "goodharts.torch_env.adapter", raising=False)
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(
            EngineError, match=r"^The torch engine needs torch: run `.* -m pip install 'hackmatrix\[goodharts\]'`"
        ):
            GoodhartsEnv()


class TestInfo:
    """What an info says."""

    @EVERY_MODE
    def test_the_breakdown_sums_to_the_reward_G12(self, mode: str) -> None:
        for _, reward, terminated, _, info in steps_of(play(make(mode), 150)):
            assert tuple(info["reward_breakdown"]) == COMPONENTS
            assert type(reward) is float
            assert reward == pytest.approx(sum(info["reward_breakdown"].values()), abs=1e-6)
            assert info.get("death", False) == terminated

    def test_what_was_eaten_is_said_and_paid_for_G5(self) -> None:
        energy, eaten = 1000, Counter[str]()
        for said in play(make(), 1200, seed=1):
            if len(said) == 2:
                energy = said[1]["energy"]
                continue
            info = said[4]
            food, poison = info.get("ate_food", False), info.get("ate_poison", False)
            assert info["energy"] == energy - 10 + 1000 * food - 2000 * poison
            assert (info["reward_breakdown"]["food"], info["reward_breakdown"]["poison"]) == (1.0 * food, -2.0 * poison)
            energy = info["energy"]
            eaten.update(food=food, poison=poison)
        assert min(eaten.values()) > 0

    @EVERY_MODE
    def test_the_statistics_are_those_of_the_episode(self, mode: str) -> None:
        env = make(mode, max_episode_steps=150)
        rng = np.random.default_rng(0)
        found = Counter[str]()
        for seed in range(3):
            env.reset(seed=seed)
            eaten, info = Counter[str](), dict[str, Any]()
            while "episode_stats" not in info:
                info = env.step(int(rng.integers(8)))[4]
                eaten.update(food=info.get("ate_food", False), poison=info.get("ate_poison", False))
            stats = info["episode_stats"]
            assert stats["steps"] == info["steps"] == sum(stats["actions"].values())
            assert tuple(stats["actions"]) == ACTIONS
            assert (stats["food"], stats["poison"]) == (eaten["food"], eaten["poison"])
            found += eaten
        assert found.total() > 0


class TestManyGames:
    """The kit's environments of many games play the torch engine as single ones do."""

    @pytest.mark.parametrize(("mode", "limit"), [("ground_truth_handhold", None), ("proxy", 7)])
    def test_the_native_one_equals_gymnasiums_own(self, mode: str, limit: int | None) -> None:
        native = GoodhartsVectorEnv(3, mode=mode, max_episode_steps=limit)
        own = SyncVectorEnv([partial(GoodhartsEnv, mode=mode, max_episode_steps=limit)] * 3)
        assert native.observation_space == own.observation_space
        assert native.action_space == own.action_space
        rng, ended = np.random.default_rng(3), 0
        assert_same(list(native.reset(seed=11)), list(own.reset(seed=11)))
        for _ in range(20 if limit else 130):
            actions = rng.integers(8, size=3)
            said = native.step(actions)
            assert_same(list(said), list(own.step(actions)))
            ended += int((said[2] | said[3]).sum())
        assert ended >= 3

    def test_make_vec_takes_the_native_one(self) -> None:
        made = gym.make_vec("Goodharts-v0", num_envs=3, vectorization_mode="vector_entry_point", mode="proxy")
        assert isinstance(made.unwrapped, GoodhartsVectorEnv)

    @pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    def test_a_copy_plays_on(self, how: Any) -> None:  # noqa: ANN401 - one of two functions
        env = GoodhartsVectorEnv(3)
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(120):
            env.step(rng.integers(8, size=3))
        twin = how(env)
        for _ in range(120):
            actions = rng.integers(8, size=3)
            assert_same(list(env.step(actions)), list(twin.step(actions)))


class TestRender:
    """Every render mode shows the game that is played."""

    def test_text_and_picture(self) -> None:
        text, env = GoodhartsEnv("ansi"), GoodhartsEnv("rgb_array")
        text.reset(seed=0)
        assert "@" in text.render()
        assert "energy 1.00" in text.render()
        env.reset(seed=0)
        before = env.render()
        env.step(0)
        after = env.render()
        assert before.shape == after.shape == (560, 900, 3)
        assert before.dtype == np.uint8
        assert (before != after).any()
