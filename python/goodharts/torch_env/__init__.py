"""The canonical engine of Goodharts: torch, many games at once, on any device.

A module for each chapter: ``random`` (G10), ``placement`` (G3, G5, G6), ``observation`` (G7), ``rewards`` (G9, G12),
``state`` and ``state_dict`` (G13), and ``env`` (G4-G6), which plays. ``adapter`` shows it to the harness.
"""
