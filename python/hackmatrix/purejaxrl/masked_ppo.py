"""The documented module name of masked PPO: `rlworldkit.ppo` has the distribution, network, loss and steps."""

from rlworldkit.ppo.masked_ppo import *  # noqa: F403
from rlworldkit.ppo.networks import ActorCritic as ActorCritic
from rlworldkit.ppo.rollout import _env_step as _env_step
from rlworldkit.ppo.update import update_epoch

_update_epoch = update_epoch
