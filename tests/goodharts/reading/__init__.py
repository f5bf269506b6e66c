"""The rules G1-G13 read once more, in plain Python: slow, literal, and independent of the engine.

It shares names with the engine (``goodharts.rules``) and nothing else: its random words, its tables and its numbers
are its own, so an agreement is evidence.
"""
