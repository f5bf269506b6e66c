"""Make environments as the scripts of CleanRL do; ``FlatObservation`` is the only line to add."""

import gymnasium as gym
import hackmatrix  # registers HackMatrix-v0
from hackmatrix.gym_wrappers import FlatObservation


def make_env(env_id, idx, capture_video, run_name):
    def thunk():
        if capture_video and idx == 0:
            env = gym.make(env_id, render_mode="rgb_array")
            env = gym.wrappers.RecordVideo(env, f"videos/{run_name}")
        else:
            env = gym.make(env_id)
        env = FlatObservation(env)  # the one line
        env = gym.wrappers.RecordEpisodeStatistics(env)
        return env

    return thunk


envs = gym.vector.SyncVectorEnv([make_env("HackMatrix-v0", i, True, "first") for i in range(4)])
envs.reset(seed=1)
envs.step(envs.action_space.sample())
envs.close()
print(envs.single_observation_space.shape, envs.single_action_space.n)
