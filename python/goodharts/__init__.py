"""Goodharts: agents that are trained on a proxy, and then eat poison."""

from importlib.util import find_spec

from goodharts.rules import VERSION
from rlparity import __version__ as __version__

RULES_VERSION = VERSION

if find_spec("gymnasium") is not None:  # an extra: where it is installed, Goodharts-v0 is registered
    import gymnasium

    gymnasium.register(
        "Goodharts-v0",
        entry_point="goodharts.gym_env:GoodhartsEnv",
        vector_entry_point="goodharts.gym_env:GoodhartsVectorEnv",
    )
