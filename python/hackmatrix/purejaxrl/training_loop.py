"""Alias, under the documented name, of the training loop in `rlworldkit.ppo.loop` and `rlworldkit.ppo.training`."""

from rlworldkit.ppo.loop import *  # noqa: F403
from rlworldkit.ppo.training import *  # noqa: F403
