"""The documented module names of the trainer in JAX, which is `rlworldkit.ppo`, and what this game adds to it."""
