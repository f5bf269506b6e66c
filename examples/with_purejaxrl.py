"""Train PureJaxRL's ``ppo.py``, which lies beside this file and asks gymnax for an environment by name."""

import gymnax
import jax
from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax

env = HackMatrixGymnax(max_steps=500)
gymnax.make = lambda name, **options: (env, env.default_params)

from ppo import CONFIG, make_train  # PureJaxRL's ppo.py, and the settings that stand at its end

train = jax.jit(make_train({**CONFIG, "ENV_NAME": "HackMatrix", "TOTAL_TIMESTEPS": 4096}))
print(train(jax.random.key(0))["metrics"]["returned_episode_lengths"][-1].mean())
