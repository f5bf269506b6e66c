"""Display of a board: ``model`` has its cells, ``text`` and ``picture`` (with pygame) draw it."""
