"""The engine of Goodharts in JAX: one game as pure functions, natively batched under ``vmap``, and 32 bits throughout.

A module for each chapter: ``random`` (G10), ``placement`` (G3, G5, G6), ``observation`` (G7), ``rewards`` (G9, G12),
``state`` and ``state_dict`` (G13), and ``env`` (G4-G6), which plays. ``grid`` has sets of cells as bits.
"""
