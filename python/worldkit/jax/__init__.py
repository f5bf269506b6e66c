"""What any world written in JAX can use: addressed random words, native batching, rule marks, compiler settings."""
