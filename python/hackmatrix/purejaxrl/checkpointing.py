"""The documented door to checkpoints; `worldkit.purejaxrl.checkpointing` has them."""

from worldkit.purejaxrl.checkpointing import *  # noqa: F403
