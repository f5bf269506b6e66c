"""PPO on the JAX engine of Goodharts, by ``worldkit.ppo``.

``network`` is that of the torch trainer, on the same weights by the same names. ``programs`` are an update's two
halves, ``trainer`` goes from update to update, and ``engine`` opens it.
"""
