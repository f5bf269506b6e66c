"""The documented module names of the trainer in JAX, which is `worldkit.ppo`, and what this game adds to it."""
