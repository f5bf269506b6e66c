"""The environment variables by which ``torchrun`` tells a process its rank."""

import os


def rank() -> int:
    """Return this process's number among all."""
    return int(os.environ.get("RANK", "0"))


def is_launched() -> bool:
    """Return whether this process is one of several."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1
