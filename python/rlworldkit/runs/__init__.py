"""A run as its user meets it: folder, metrics in every format, progress, curve, W&B, and a clean stop."""
