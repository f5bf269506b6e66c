"""Screens for any world: an agent's games to watch (``watch``), games to play (``play``), and pages of games."""
