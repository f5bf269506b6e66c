"""The documented door to masked PPO: `worldkit.purejaxrl` has the distribution, the network, the loss and the steps."""

from worldkit.purejaxrl.masked_ppo import *  # noqa: F403
from worldkit.purejaxrl.networks import ActorCritic as ActorCritic
from worldkit.purejaxrl.rollout import _env_step as _env_step
from worldkit.purejaxrl.update import update_epoch

_update_epoch = update_epoch
