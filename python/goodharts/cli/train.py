"""``goodharts train``: the documented ``python -m goodharts.training.train_ppo``."""

from goodharts.training.train_ppo import main

__all__ = ["main"]
