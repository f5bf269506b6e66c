"""A world's step translated into a program of its own: one game after the other, without XLA's vectors of games."""
