"""Watching an agent play any world: its games as frames, and how a terminal, a window, a file or a pipe shows them."""
