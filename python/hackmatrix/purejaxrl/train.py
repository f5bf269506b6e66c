"""Alias, under the documented name, of whole updates in `rlworldkit.ppo.ppo` and `rlworldkit.ppo.program`."""

from rlworldkit.ppo.ppo import *  # noqa: F403
from rlworldkit.ppo.program import *  # noqa: F403
from rlworldkit.ppo.state import init_runner as init_runner
