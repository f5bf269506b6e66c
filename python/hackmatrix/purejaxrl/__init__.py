"""Documented module names of the JAX trainer: aliases of `rlworldkit`, and this game's settings and environment."""
