"""The engines by name, each imported when it is asked for: both take a while."""

from __future__ import annotations

from typing import assert_never

from goodharts.config import EngineName
from goodharts.training.engine import Engine


def engine_named(name: EngineName) -> Engine:
    """The engine of this name."""
    match name:
        case "torch":
            from goodharts.training.torch_engine import TorchEngine

            return TorchEngine()
        case "jax":
            from goodharts.training.jax_ppo.engine import JaxEngine

            return JaxEngine()
        case unknown:
            assert_never(unknown)
