"""Play an episode in torchrl, with the mask of the infos."""

import hackmatrix  # registers HackMatrix-v0
import torch
from torchrl.data import Unbounded
from torchrl.envs import ActionMask, GymEnv, TransformedEnv
from torchrl.envs.gym_like import default_info_dict_reader

env = GymEnv("HackMatrix-v0", max_episode_steps=500)
mask = Unbounded((env.action_spec.space.n,), dtype=torch.int8)
env.set_info_dict_reader(default_info_dict_reader(["action_mask"], spec=[mask]))
episode = TransformedEnv(env, ActionMask()).rollout(500)
print(len(episode), "steps,", episode["next", "reward"].sum().item())
