"""Masked PPO in JAX on the JAX engine: rollout, learning and bookkeeping in one compiled program."""
