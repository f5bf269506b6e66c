"""The documented module name of whole updates; `worldkit.ppo.update` has them."""

from worldkit.ppo.update import *  # noqa: F403
