"""Hyperparameter search over settings of the trainer and prices of the reward, with Optuna."""
