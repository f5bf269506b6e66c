"""PPO on the JAX engine of Goodharts.

``games`` shows the engine to the trainer's parts of ``worldkit.purejaxrl``; ``network`` and ``popart`` are those of the
torch trainer, on the same weights by the same names. ``learning`` is the arithmetic of an update, ``programs`` compiles
it, ``trainer`` goes from update to update, and ``engine`` opens it.
"""
