"""The documented module name of the training loop; `worldkit.ppo.loop` and `worldkit.ppo.training` have it."""

from worldkit.ppo.loop import *  # noqa: F403
from worldkit.ppo.training import *  # noqa: F403
