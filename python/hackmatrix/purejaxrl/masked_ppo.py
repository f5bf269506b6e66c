"""Alias, under the documented name, of masked PPO in `rlworldkit.ppo`: distribution, network, loss and steps."""

from rlworldkit.ppo.networks import ActorCritic as ActorCritic
from rlworldkit.ppo.ppo import *  # noqa: F403
from rlworldkit.ppo.ppo import _env_step as _env_step
from rlworldkit.ppo.ppo import update_epoch
from rlworldkit.ppo.state import *  # noqa: F403

_update_epoch = update_epoch
