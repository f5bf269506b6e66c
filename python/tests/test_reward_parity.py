"""The documented name of the tests that hold the rewards of the engines to the rules, and to recorded games."""

from tests.conftest import swift_built  # noqa: F401
from tests.hackmatrix.rules.conftest import engine  # noqa: F401
from tests.hackmatrix.rules.test_r_randomness import test_R1_known_games_are_replayed_whole  # noqa: F401
from tests.hackmatrix.rules.test_w_reward import *  # noqa: F403
