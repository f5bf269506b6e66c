"""Read the parts of a model file that need neither torch nor Stable-Baselines3."""

from pathlib import Path

from rlparity.io.arguments import ALL_STEPS
from rlparity.io.safe_read import GIB, Unreadable, is_object, json_of, read_bytes, read_zip
from rlparity.spaces import is_count

LIMIT = 2 * GIB
"""Size of the largest model that is read, in bytes, unpacked."""
PLAIN = "worldkit.json"
"""Name of the member of the zip file that holds the model's settings."""


def timesteps_of(path: Path) -> int:
    """Read from its file for how many steps a model was trained; -1 if the file does not tell."""
    try:
        metadata = json_of(read_zip(read_bytes(path, LIMIT), LIMIT)[PLAIN])
    except (OSError, KeyError, Unreadable):
        return -1
    steps = metadata.get("num_timesteps") if is_object(metadata) else None
    return int(steps) if steps is not None and is_count(steps, ALL_STEPS.most + 1) else -1
