"""The documented doors to the trainer in JAX, which is `worldkit.purejaxrl`, and what this game adds to it."""
