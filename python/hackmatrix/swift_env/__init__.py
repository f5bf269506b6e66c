"""The bridge to the canonical engine: its process, its binary protocol, and many games behind numpy arrays."""

from hackmatrix.swift_env.engine import SwiftGames
from hackmatrix.swift_env.process import SwiftEngineError
from hackmatrix.swift_env.protocol import CommandRefused, ObservationFormat

__all__ = ["CommandRefused", "ObservationFormat", "SwiftEngineError", "SwiftGames"]
