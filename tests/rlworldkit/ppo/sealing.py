"""Checkpoints taken apart, and put together again with the checksum that goes with what was changed."""

import hashlib
from typing import Any

from rlworldkit.ppo import checkpoint_format


def payload_of(data: bytes) -> dict[str, Any]:
    """The payload of a checkpoint."""
    payload: dict[str, Any] = checkpoint_format.loads(checkpoint_format.loads(data)["payload"])
    return payload


def sealed(payload: object) -> bytes:
    """A checkpoint with this payload."""
    packed = payload if isinstance(payload, bytes) else checkpoint_format.dumps(payload)
    whole = {"format": "orchard checkpoint", "version": 1, "sha256": hashlib.sha256(packed).hexdigest()}
    return checkpoint_format.dumps({**whole, "payload": packed})
