"""HackMatrix: a roguelike on a 6x6 grid, with two engines and the trainers that use them."""

from importlib.util import find_spec

from hackmatrix.rules import VERSION
from rlparity import __version__ as __version__

RULES_VERSION = VERSION

if find_spec("gymnasium") is not None:  # an extra: where it is installed, HackMatrix-v0 is registered
    import gymnasium

    gymnasium.register(
        "HackMatrix-v0",
        entry_point="hackmatrix.gym_env:HackMatrixEnv",
        vector_entry_point="hackmatrix.gym_env:HackMatrixVectorEnv",
    )
