"""The documented door to whole updates; `worldkit.ppo.update` has them."""

from worldkit.ppo.update import *  # noqa: F403
