"""Watching of an agent in any world: its games as frames, shown in a terminal, a window, a file or a pipe."""
