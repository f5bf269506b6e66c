"""Train masked PPO of RLlib, with the module that it ships for that."""

import gymnasium as gym
import hackmatrix  # registers HackMatrix-v0
from hackmatrix.gym_wrappers import FlatObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from rlworldkit.envs.wrappers import MaskInObservation


def make_env(settings):
    return MaskInObservation(FlatObservation(gym.make("HackMatrix-v0", **settings)), "observations", "action_mask")


register_env("hackmatrix", make_env)
config = (
    PPOConfig()
    .environment("hackmatrix", env_config={"max_episode_steps": 500})
    .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    .env_runners(num_env_runners=0)
    .training(train_batch_size_per_learner=256, minibatch_size=64, num_epochs=1)
)
result = config.build_algo().train()
print(result["env_runners"]["episode_len_mean"])
