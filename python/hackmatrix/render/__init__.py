"""Display of a board: ``words`` names what is in its cells, ``text`` and ``picture`` (with pygame) draw it."""
