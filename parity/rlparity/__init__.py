"""Parity harness: compares two engines of one world bit for bit. Worlds register with it; it knows none itself."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rlparity.agent import Policy, View
from rlparity.engine import BatchEngine, BatchStep, Draw, EngineOptions, Phase, Slots, State
from rlparity.errors import EngineError, ParityError, StateRefused, UsageError
from rlparity.mutant import Mutant, MutationBench
from rlparity.spaces import Box, MultiDiscrete
from rlparity.tolerance import Tolerance
from rlparity.views import AutoResetBatch, Engine, Step
from rlparity.world import Board, EngineFactory, Price, Shrinker, StartMaker, World

if TYPE_CHECKING:
    from rlparity.adapters.pairing import Pairing
    from rlparity.engines.registry import load_world, open_batch, open_engine

__version__ = "0.1.0"
_ELSEWHERE = {
    "Pairing": "adapters.pairing",
    "load_world": "engines.registry",
    "open_batch": "engines.registry",
    "open_engine": "engines.registry",
}
"""Names that are imported on first use: to compare two engines takes neither git nor child processes."""

__all__ = [
    "AutoResetBatch",
    "BatchEngine",
    "BatchStep",
    "Board",
    "Box",
    "Draw",
    "Engine",
    "EngineError",
    "EngineFactory",
    "EngineOptions",
    "MultiDiscrete",
    "Mutant",
    "MutationBench",
    "Pairing",
    "ParityError",
    "Phase",
    "Policy",
    "Price",
    "Shrinker",
    "Slots",
    "StartMaker",
    "State",
    "StateRefused",
    "Step",
    "Tolerance",
    "UsageError",
    "View",
    "World",
    "load_world",
    "open_batch",
    "open_engine",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _ELSEWHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ELSEWHERE[name]}"), name)
