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
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from goodharts.gym_env import GoodhartsEnv, GoodhartsVectorEnv
from goodharts.rules import ACTIONS, COMPONENTS, DEFAULT_NUMBERS, MODES, OBSERVATION_SHAPE
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys, unsigned
from parity.errors import EngineError, ParityError, UsageError
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
    def test_spaces_G4_G7(self, mode: str) -> None:
        env = make(mode)
        assert env.observation_space == gym.spaces.Box(0.0, 1.0, OBSERVATION_SHAPE, np.float32)
        assert env.action_space == gym.spaces.Discrete(8)
        assert all(env.observation_space.contains(said[0]) for said in play(env, 100))

    def test_a_proxy_agent_sees_poison_as_half_as_interesting_G7(self) -> None:
        seen = np.stack([said[0] for said in play(make("proxy"), 300)])
        truth = np.stack([said[0] for said in play(make("ground_truth"), 300)])
        np.testing.assert_array_equal(seen[:, 0], seen[:, 1])
        assert set(np.unique(seen)) == {0.0, 0.5, 1.0}
        assert set(np.unique(truth)) == {0.0, 1.0}
        assert not (truth[:, 0] * truth[:, 1]).any()


class TestStart:
    """Seeds and states."""

    @pytest.mark.parametrize("seed", [0, 41, 2**32 + 7, 2**64 - 1])
    def test_a_seed_is_game_0_of_a_run_with_it_G10(self, seed: int) -> None:
        env = make()
        observation, info = env.reset(seed=seed)
        games = Games(MODES["ground_truth"], 3)
        games.start(game_keys(seed, 3))
        state = env.unwrapped.get_state()  # type: ignore[attr-defined]
        low, high = unsigned(games.state.key[0]).tolist()
        assert info["seed"] % 2**64 == low + (high << 32)
        assert state["key"] == [low, high]
        assert (state["x"], state["y"]) == (int(games.state.x[0]), int(games.state.y[0]))
        assert state["food"] == (games.state.grid[0] == 1).nonzero()[:, 0].tolist()
        assert observation[0].sum() == (games.look()[0] == 1).sum()

    def test_an_episode_follows_with_the_draws_of_the_last_step_G6(self) -> None:
        env = make("proxy", max_episode_steps=3)
        env.reset(seed=9)
        before = [env.unwrapped.get_state()]  # type: ignore[attr-defined]
        for _ in range(2):
            for _ in range(3):
                env.step(0)
            env.reset()
            before.append(env.unwrapped.get_state())  # type: ignore[attr-defined]
        assert [state["event"] for state in before] == [0, 3, 6]
        assert [state["steps"] for state in before] == [0, 0, 0]
        assert len({tuple(state["food"]) for state in before}) == 3

    def test_a_state_as_a_start_G13(self) -> None:
        env = make()
        play(env, 11, seed=2)
        state = env.unwrapped.get_state()  # type: ignore[attr-defined]
        env.reset(seed=1)
        env.reset(options={"state": state})
        assert env.unwrapped.get_state() == state  # type: ignore[attr-defined]

    def test_a_wrong_state_is_one_sentence_and_the_game_goes_on(self) -> None:
        env = GoodhartsEnv()
        _, info = env.reset(seed=1)
        with pytest.raises(ParityError, match="the state has no poison"):
            env.reset(options={"state": {"food": []}})
        assert env.step(0)[4]["seed"] == info["seed"]

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
            actions, rewards, eaten = Counter[str](), 0.0, Counter[str]()
            info: dict[str, Any] = {}
            while "episode_stats" not in info:
                action = int(rng.integers(8))
                actions[ACTIONS[action]] += 1
                _, reward, terminated, truncated, info = env.step(action)
                rewards += float(reward)
                eaten.update(food=info.get("ate_food", False), poison=info.get("ate_poison", False))
            assert terminated or truncated
            stats = info["episode_stats"]
            assert stats["return"] == pytest.approx(rewards, abs=1e-4)
            assert stats["steps"] == info["steps"] == actions.total()
            assert stats["actions"] == {name: actions[name] for name in ACTIONS}
            assert (stats["food"], stats["poison"]) == (eaten["food"], eaten["poison"])
            found += eaten
        assert found.total() > 0


class TestEnd:
    """Death and the 512th step (G5)."""

    def test_an_immortal_agent_is_cut_off_at_512_steps_of_the_world(self) -> None:
        steps = steps_of(play(make("proxy"), 1100))
        assert [number for number, step in enumerate(steps, start=1) if step[3]] == [512, 1024]
        assert not any(step[2] for step in steps)
        assert {step[4]["energy"] for step in steps} == {DEFAULT_NUMBERS.start_energy}

    def test_a_mortal_agent_dies_when_its_energy_is_used_up(self) -> None:
        ends = [step for step in steps_of(play(make(), 2000)) if step[2]]
        assert len(ends) > 5
        assert all(step[4]["energy"] <= 0 and step[4]["reward_breakdown"]["death"] == -4.0 for step in ends)

    def test_both_at_once_are_said_both(self) -> None:
        env = make()
        env.reset(seed=0)
        state = env.unwrapped.get_state()  # type: ignore[attr-defined]
        last = {**state, "food": [], "poison": [], "foodCount": 0, "poisonCount": 0}
        env.reset(options={"state": {**last, "energy": 10, "steps": 511, "event": 511}})
        _, _, terminated, truncated, info = env.step(0)
        assert (terminated, truncated, info["energy"], info["steps"]) == (True, True, 0, 512)


class TestCopiesAndWrappers:
    """A running game can be sent elsewhere, and Gymnasium's own wrappers go around it."""

    @pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
    @pytest.mark.parametrize("mode", ["proxy", "ground_truth_handhold"])
    def test_a_copy_plays_on(self, mode: str, how: Any) -> None:  # noqa: ANN401 - one of two functions
        original = make(mode).unwrapped
        play(original, 90, seed=8)
        twin = how(original)
        rng = np.random.default_rng(1)
        for action in rng.integers(8, size=100).tolist():
            left, right = original.step(action), twin.step(action)
            assert_same(list(left), list(right))
            if left[2] or left[3]:
                assert_same(list(original.reset()), list(twin.reset()))


def same_play(left: Any, right: Any, steps: int, seed: int = 11) -> int:  # noqa: ANN401 - vector environments
    """Play the same games in both and compare all they say; returns how many ended."""
    rng, ended = np.random.default_rng(3), 0
    assert_same(list(left.reset(seed=seed)), list(right.reset(seed=seed)))
    for _ in range(steps):
        actions = rng.integers(8, size=left.num_envs)
        said, heard = left.step(actions), right.step(actions)
        assert_same(list(said), list(heard))
        over = said[2] | said[3]
        ended += int(over.sum())
        if left.metadata["autoreset_mode"] is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            assert_same(list(left.reset(options=options)), list(right.reset(options=options)))
    return ended


class TestManyGames:
    """The native vector environment says what Gymnasium's own says over single games."""

    @pytest.mark.parametrize("autoreset", AutoresetMode)
    @pytest.mark.parametrize(("mode", "limit"), [("ground_truth_handhold", None), ("proxy", 7)])
    def test_the_native_one_equals_gymnasiums_own(self, mode: str, limit: int | None, autoreset: AutoresetMode) -> None:
        native = GoodhartsVectorEnv(3, mode=mode, max_episode_steps=limit, autoreset_mode=autoreset)
        one = partial(GoodhartsEnv, mode=mode, max_episode_steps=limit)
        own = SyncVectorEnv([one] * 3, autoreset_mode=autoreset)
        assert native.observation_space == own.observation_space
        assert native.action_space == own.action_space
        assert same_play(native, own, 20 if limit else 130) >= 3

    def test_make_vec_takes_the_native_one(self) -> None:
        made = gym.make_vec("Goodharts-v0", num_envs=3, vectorization_mode="vector_entry_point", mode="proxy")
        assert isinstance(made.unwrapped, GoodhartsVectorEnv)
        made.reset(seed=0)
        made.step(np.zeros(3, np.int64))

    def test_a_copy_plays_on(self) -> None:
        env = GoodhartsVectorEnv(3)
        env.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(120):
            env.step(rng.integers(8, size=3))
        twin = pickle.loads(pickle.dumps(env))
        for _ in range(120):
            actions = rng.integers(8, size=3)
            assert_same(list(env.step(actions)), list(twin.step(actions)))


class TestRender:
    """Every render mode shows the game that is played."""

    def test_text(self) -> None:
        env = GoodhartsEnv("ansi")
        env.reset(seed=0)
        text = env.render()
        assert "@" in text
        assert "energy 1.00" in text

    def test_picture(self) -> None:
        env = GoodhartsEnv("rgb_array")
        env.reset(seed=0)
        before = env.render()
        env.step(0)
        after = env.render()
        assert before.shape == after.shape == (560, 900, 3)
        assert before.dtype == np.uint8
        assert (before != after).any()
