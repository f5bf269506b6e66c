"""Content of a model file that can be read without torch and Stable-Baselines3."""

from pathlib import Path

from rlparity.io.arguments import ALL_STEPS
from rlparity.io.safe_read import GIB, Unreadable, is_object, json_of, read_bytes, read_zip
from rlparity.spaces import is_count

LIMIT = 2 * GIB
"""The largest model that is read, in bytes, unpacked."""
PLAIN = "worldkit.json"
"""The part of the file that has the model's settings."""


def timesteps_of(path: Path) -> int:
    """Read the steps that a model has had from its file; -1 where it does not have them."""
    try:
        metadata = json_of(read_zip(read_bytes(path, LIMIT), LIMIT)[PLAIN])
    except (OSError, KeyError, Unreadable):
        return -1
    steps = metadata.get("num_timesteps") if is_object(metadata) else None
    return int(steps) if steps is not None and is_count(steps, ALL_STEPS.most + 1) else -1
