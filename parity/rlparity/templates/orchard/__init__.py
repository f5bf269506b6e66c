"""Orchard: a game small enough to read in a minute. Replace the game and its engines by your own."""

from orchard.world import WORLD

__all__ = ["WORLD"]
