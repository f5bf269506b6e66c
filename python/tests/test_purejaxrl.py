"""The documented name of the tests of the wrapper, of masked PPO and of whole updates."""

import tests.conftest  # noqa: F401 - which tells JAX how to compile
from tests.hackmatrix.train.test_env_wrapper import *  # noqa: F403
from tests.rlworldkit.foreign.test_gymnax import *  # noqa: F403
from tests.rlworldkit.ppo.conftest import *  # noqa: F403
from tests.rlworldkit.ppo.test_masked_ppo import *  # noqa: F403
from tests.rlworldkit.ppo.test_update import *  # noqa: F403
