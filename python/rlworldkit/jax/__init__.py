"""Tools for worlds in JAX: addressed random words, native batching, rule marks, compiler settings."""
