"""The rules G1-G13 read once more, in plain Python: slow, literal, and independent of the engine.

It imports nothing of what it judges: its names, random words, tables and numbers are its own, so an agreement is
evidence.
"""
