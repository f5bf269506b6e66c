"""Client of the Swift engine: its process, its binary protocol, and many games as NumPy arrays."""

from hackmatrix.swift_env.adapter import SwiftEngine
from hackmatrix.swift_env.process import SwiftEngineError
from hackmatrix.swift_env.protocol import CommandRefused

__all__ = ["CommandRefused", "SwiftEngine", "SwiftEngineError"]
