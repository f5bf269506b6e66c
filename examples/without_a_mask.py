"""Compare random episodes with and without the action mask: an invalid action ends the game (C1)."""

import gymnasium as gym
import hackmatrix  # registers HackMatrix-v0

env = gym.make("HackMatrix-v0")
env.action_space.seed(0)


def mean_length(masked):
    steps = 0
    for seed in range(500):
        _, info = env.reset(seed=seed)
        while "episode_stats" not in info:
            *_, info = env.step(env.action_space.sample(info["action_mask"] if masked else None))
        steps += info["episode_stats"]["steps"]
    return steps / 500


print(mean_length(masked=False), mean_length(masked=True))
