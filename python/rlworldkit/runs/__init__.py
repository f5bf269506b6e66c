"""Outputs of a training run: folder, metrics in every format, progress, curve, W&B, and a clean stop."""
