"""The documented door to the training loop; `worldkit.purejaxrl.loop` and `worldkit.purejaxrl.training` have it."""

from worldkit.purejaxrl.loop import *  # noqa: F403
from worldkit.purejaxrl.training import *  # noqa: F403
