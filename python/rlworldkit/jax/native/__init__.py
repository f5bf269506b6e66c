"""Translation of a world's step to a C or CUDA program, which plays one game after another instead of XLA's vectors."""
