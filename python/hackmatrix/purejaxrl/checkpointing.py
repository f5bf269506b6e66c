"""The documented module name of checkpoints and parameters; worldkit's modules of these names have them."""

from worldkit.ppo.checkpoints import *  # noqa: F403
from worldkit.ppo.params import *  # noqa: F403
