"""The documented door to masked PPO: `worldkit.ppo` has the distribution, the network, the loss and the steps."""

from worldkit.ppo.masked_ppo import *  # noqa: F403
from worldkit.ppo.networks import ActorCritic as ActorCritic
from worldkit.ppo.rollout import _env_step as _env_step
from worldkit.ppo.update import update_epoch

_update_epoch = update_epoch
