"""Stable-Baselines3 on the canonical engine: a native vector environment and MaskablePPO."""
