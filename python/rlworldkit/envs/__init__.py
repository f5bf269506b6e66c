"""Environments of any world for Gymnasium (one game or many), Stable-Baselines3 and Gymnax."""
