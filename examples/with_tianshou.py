"""Train DQN of tianshou, whose policies read a mask beside the observation."""

import gymnasium as gym
import hackmatrix  # registers HackMatrix-v0
from hackmatrix.gym_wrappers import FlatObservation
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net
from rlworldkit.envs.wrappers import MaskInObservation


def make_env():
    return MaskInObservation(FlatObservation(gym.make("HackMatrix-v0", max_episode_steps=500)), "obs", "mask")


envs, spaces = DummyVectorEnv([make_env] * 4), make_env().observation_space
actions = envs.action_space[0]
network = Net(state_shape=spaces["obs"].shape, action_shape=actions.n, hidden_sizes=[64])
policy = DiscreteQLearningPolicy(model=network, action_space=actions, eps_training=0.1)
dqn = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), target_update_freq=100)
collector = Collector(dqn, envs, VectorReplayBuffer(2000, len(envs)), exploration_noise=True)
params = OffPolicyTrainerParams(
    training_collector=collector, max_epochs=1, epoch_num_steps=400, collection_step_num_env_steps=40
)
result = dqn.run_training(params)
print(result.train_episode, "episodes of", result.train_step, "steps")
