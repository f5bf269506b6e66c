"""The rules G1-G13 read once more, in plain Python: slow, literal, and independent of the engine.

It imports nothing of what it judges: names, random words and tables are the tests' own, so an agreement is evidence.
"""
