"""The documented module name of checkpoints and parameters; rlworldkit's modules of these names have them."""

from rlworldkit.ppo.checkpoints import *  # noqa: F403
from rlworldkit.ppo.params import *  # noqa: F403
