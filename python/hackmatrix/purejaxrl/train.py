"""The documented module name of whole updates; `rlworldkit.ppo.ppo` and `rlworldkit.ppo.program` have them."""

from rlworldkit.ppo.ppo import *  # noqa: F403
from rlworldkit.ppo.program import *  # noqa: F403
from rlworldkit.ppo.state import init_runner as init_runner
