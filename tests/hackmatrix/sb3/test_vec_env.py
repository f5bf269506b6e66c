"""The native vector environment of Stable-Baselines3 says what its own ones say over single games."""

import numpy as np
import pytest
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor

from hackmatrix import rules
from hackmatrix.gym_env import HackMatrixEnv
from hackmatrix.sb3.vec_env import HackMatrixVecEnv
from rlparity.errors import UsageError
from tests.played import assert_same, choose

GAMES = 4


def play(left: VecEnv, right: VecEnv, steps: int) -> int:
    """Play the same games in both and compare all they say; returns how many ended."""
    rng, ended = np.random.default_rng(0), 0
    left.seed(21)
    right.seed(21)
    assert_same(left.reset(), right.reset())
    assert_same(left.reset_infos, right.reset_infos)
    for _ in range(steps):
        masks = get_action_masks(left)
        np.testing.assert_array_equal(masks, get_action_masks(right))
        actions = choose(masks, rng, wrong=0.02)
        (seen, rewards, dones, infos), other = left.step(actions), right.step(actions)
        assert_same(seen, other[0])
        np.testing.assert_array_equal(rewards, other[1].astype(np.float32))
        np.testing.assert_array_equal(dones, other[2])
        for game, (info, peer) in enumerate(zip(infos, other[3], strict=True)):
            if dones[game]:
                ended += 1
                assert info.pop("episode")["l"] == info["episode_stats"]["steps"]
                peer.pop("episode", None)
            assert_same(info, peer)
        assert_same(left.reset_infos, right.reset_infos)
    return ended


def test_it_equals_single_games(swift_built: None) -> None:
    native, own = HackMatrixVecEnv(GAMES), DummyVecEnv([HackMatrixEnv] * GAMES)
    assert native.observation_space == own.observation_space
    assert native.action_space == own.action_space
    assert play(native, own, 200) > 20
    native.close()
    own.close()


def test_masks_pictures_and_mistakes(swift_built: None) -> None:
    env = HackMatrixVecEnv(2, seed=0)
    env.reset()
    env.reset()
    assert is_masking_supported(env)
    assert get_action_masks(env).shape == (2, rules.NUM_ACTIONS)
    assert [picture is None for picture in env.get_images()] == [False, False]
    with pytest.raises(AttributeError, match="no method 'fly'"):
        env.env_method("fly")
    with pytest.raises(UsageError, match=f"from 0 to {rules.NUM_ACTIONS - 1}, not {rules.NUM_ACTIONS}"):
        env.step(np.array([0, rules.NUM_ACTIONS]))
    env.close()


def test_an_episode_that_is_cut_off_is_truncated_and_its_last_observation_kept(swift_built: None) -> None:
    env = VecMonitor(HackMatrixVecEnv(1, seed=0, max_episode_steps=2))
    env.reset()
    for _ in range(2):
        assert env.get_attr("render_mode") == ["rgb_array"]
        seen, _, dones, infos = env.step(get_action_masks(env).argmax(axis=1))
    assert dones.tolist() == [True]
    assert (infos[0]["TimeLimit.truncated"], infos[0]["episode_stats"]["steps"]) == (True, 2)
    assert (infos[0]["terminal_observation"]["player"] != seen["player"][0]).any()  # type: ignore[call-overload]
    env.close()
