"""The documented module name of the training loop; `rlworldkit.ppo.loop` and `rlworldkit.ppo.training` have it."""

from rlworldkit.ppo.loop import *  # noqa: F403
from rlworldkit.ppo.training import *  # noqa: F403
