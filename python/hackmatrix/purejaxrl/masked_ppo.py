"""The documented door to masked PPO; `worldkit.purejaxrl.masked_ppo` has it."""

from worldkit.purejaxrl.masked_ppo import *  # noqa: F403
