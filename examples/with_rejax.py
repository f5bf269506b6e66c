"""Train PPO of rejax. Its DQN stores two observations a step, about 12 kB: choose ``buffer_size`` accordingly."""

import jax
from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
from rejax import PPO

ppo = PPO.create(
    env=HackMatrixGymnax(max_steps=500),
    num_envs=64,
    num_steps=16,
    num_minibatches=4,
    total_timesteps=4096,
    eval_freq=4096,
    skip_initial_evaluation=True,
)
state, (lengths, returns) = jax.jit(ppo.train)(jax.random.key(0))
print(lengths.mean(), returns.mean())
