"""The engines by name, each imported when it is asked for: both take a while."""

from __future__ import annotations

from goodharts.config import JAX
from goodharts.training.engine import Engine


def engine_named(name: str) -> Engine:
    """The engine of this name, one of ``goodharts.config.ENGINES``."""
    if name == JAX:
        from goodharts.training.jax_ppo.engine import JaxEngine

        return JaxEngine()
    from goodharts.training.torch_engine import TorchEngine

    return TorchEngine()
