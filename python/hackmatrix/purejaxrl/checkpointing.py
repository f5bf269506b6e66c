"""The documented door to checkpoints and parameters; the kit's modules of these names have them."""

from worldkit.purejaxrl.checkpoints import *  # noqa: F403
from worldkit.purejaxrl.params import *  # noqa: F403
