"""Holds two engines of one world to each other, bit for bit. Knows no world; worlds register with it."""

__version__ = "0.1.0"

from rlparity.adapters.pairing import Pairing, Side
from rlparity.engine import AutoResetBatch, BatchEngine, BatchStep, Engine, EngineOptions, Slots, State, Step
from rlparity.engines.registry import load_world, open_batch, open_engine
from rlparity.errors import EngineError, ParityError, StateRefused, UsageError
from rlparity.phases import Draw, Phase
from rlparity.spaces import Box, MultiDiscrete
from rlparity.world import (
    Board,
    EngineFactory,
    Mutant,
    MutationBench,
    Policy,
    Price,
    Shrinker,
    StartMaker,
    Tolerance,
    View,
    World,
)

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
    "Side",
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
