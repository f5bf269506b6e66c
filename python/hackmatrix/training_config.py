"""The settings of MaskablePPO, under their documented name."""

from rlworldkit.sb3.config import MaskablePPOConfig

__all__ = ["MaskablePPOConfig"]
