"""Watching an agent play: what happens in a game, and how a terminal, a window, a file or a pipe shows it."""
