"""The documented module name of masked PPO: `worldkit.ppo` has the distribution, network, loss and steps."""

from worldkit.ppo.masked_ppo import *  # noqa: F403
from worldkit.ppo.networks import ActorCritic as ActorCritic
from worldkit.ppo.rollout import _env_step as _env_step
from worldkit.ppo.update import update_epoch

_update_epoch = update_epoch
