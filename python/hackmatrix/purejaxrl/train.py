"""The documented module name of whole updates; `rlworldkit.ppo.update` has them."""

from rlworldkit.ppo.update import *  # noqa: F403
