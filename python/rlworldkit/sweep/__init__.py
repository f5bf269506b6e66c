"""Searching for good settings of the trainer and prices of the reward, with Optuna."""
