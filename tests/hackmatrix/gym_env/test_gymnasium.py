"""Gymnasium's wrappers and recorders around ``HackMatrix-v0``, one game or many."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as vector_wrappers

import hackmatrix  # noqa: F401 - registers HackMatrix-v0
from hackmatrix.gym_env import HackMatrixVectorEnv
from hackmatrix.gym_wrappers import FlatObservation
from rlparity.errors import UsageError
from rlworldkit.envs.wrappers import MaskInObservation

pytestmark = pytest.mark.usefixtures("swift_built")
HIGH = 2**64 - 3


def test_a_wrapped_environment_is_made_again_from_its_spec() -> None:
    flat: Any = FlatObservation(gym.make("HackMatrix-v0", max_episode_steps=7))
    again = gym.make(flat.spec)
    assert (str(again), again.spec) == (str(flat), flat.spec)
    np.testing.assert_array_equal(again.reset(seed=2)[0], flat.reset(seed=2)[0])
    flat.close()
    again.close()


def test_infos_hold_no_unsigned_words_and_the_seed_is_not_lost() -> None:
    def leaves(tree: Any) -> list[Any]:  # noqa: ANN401 - a tree
        return [leaf for value in tree.values() for leaf in leaves(value)] if isinstance(tree, dict) else [tree]

    env, envs = gym.make("HackMatrix-v0"), HackMatrixVectorEnv(2)
    _, info = env.reset(seed=HIGH)
    _, infos = envs.reset(seed=HIGH)
    assert info["seed"] % 2**64 == HIGH
    assert (infos["seed"].dtype, infos["seed"].tolist()) == (np.dtype(np.int64), [-3, -2])
    for said in (info, infos, env.step(0)[4], envs.step([0, 0])[4]):
        assert np.uint64 not in {np.asarray(leaf).dtype.type for leaf in leaves(said)}
    env.close()
    envs.close()


def test_many_games_are_drawn_as_each_alone_and_filmed(tmp_path: Path) -> None:
    envs = gym.make_vec("HackMatrix-v0", 2, "vector_entry_point", render_mode="rgb_array")
    assert isinstance(envs.unwrapped, HackMatrixVectorEnv)
    alone = gym.make("HackMatrix-v0", render_mode="rgb_array")
    envs.reset(seed=4)
    frames: Any = envs.render()
    for game in range(2):
        alone.reset(seed=4 + game)
        np.testing.assert_array_equal(frames[game], alone.render())
    assert envs.render_mode == "rgb_array"
    assert envs.metadata["render_fps"] == alone.metadata["render_fps"]
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    recorded: Any = vector_wrappers.RecordVideo(envs, str(tmp_path), video_length=3)
    _, infos = recorded.reset(seed=0)
    for _ in range(4):
        *_, infos = recorded.step(infos["action_mask"].argmax(axis=1))
    recorded.close()
    alone.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1000


def test_an_environment_with_its_mask_in_the_observation_is_made_again_from_its_spec() -> None:
    env: Any = MaskInObservation(FlatObservation(gym.make("HackMatrix-v0")), "obs", "mask")
    for made in (env, gym.make(env.spec)):
        observation, info = made.reset(seed=3)
        for _ in range(5):
            assert made.observation_space.contains(observation)
            np.testing.assert_array_equal(observation["mask"], info["action_mask"])
            observation, *_, info = made.step(int(observation["mask"].argmax()))
        made.close()
    with pytest.raises(UsageError, match="a mask belongs to Discrete actions, not to Box"):
        MaskInObservation(gym.make("Pendulum-v1"))
