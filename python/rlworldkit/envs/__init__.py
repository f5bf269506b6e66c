"""Any world as an environment: of Gymnasium, one game or many, and of Stable-Baselines3."""
