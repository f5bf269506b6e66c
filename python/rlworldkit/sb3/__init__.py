"""MaskablePPO of Stable-Baselines3 over any world."""
