"""Masked PPO in JAX over any world: rollout, learning and bookkeeping in one compiled program."""
