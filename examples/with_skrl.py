"""Train DQN of skrl on the native vector environment; its models read no mask."""

import gymnasium as gym
import hackmatrix  # registers HackMatrix-v0
from hackmatrix.gym_wrappers import FlatVectorObservation
from skrl.agents.torch.dqn import DQN, DQN_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.trainers.torch import SequentialTrainer
from skrl.utils.model_instantiators.torch import deterministic_model

games = gym.make_vec("HackMatrix-v0", 4, "vector_entry_point", max_episode_steps=500)
envs = wrap_env(FlatVectorObservation(games))
spaces = {"observation_space": envs.observation_space, "action_space": envs.action_space, "device": envs.device}
layers = [{"name": "net", "input": "OBSERVATIONS", "layers": [64], "activations": "relu"}]
models = {
    name: deterministic_model(network=layers, output="ACTIONS", **spaces) for name in ("q_network", "target_q_network")
}
memory = RandomMemory(memory_size=1000, num_envs=envs.num_envs, device=envs.device)
agent = DQN(models=models, memory=memory, cfg=DQN_CFG(learning_starts=50), **spaces)
SequentialTrainer(env=envs, agents=agent, cfg={"timesteps": 100, "headless": True}).train()
print("trained")
