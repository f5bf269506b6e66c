"""Alias, under the documented name, of `rlworldkit.ppo.checkpoints` and `rlworldkit.ppo.params`."""

from rlworldkit.ppo.checkpoints import *  # noqa: F403
from rlworldkit.ppo.params import *  # noqa: F403
