"""The file of a checkpoint, and what of it can be read without JAX: a run's arrays and its settings."""

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parity.errors import ParityError
from parity.reading import GIB, SHOWN, is_object, shown
from worldkit.purejaxrl import plain_pickle

FORMAT_VERSION = 1
LIMIT = 4 * GIB
"""The largest checkpoint that is read, in bytes."""
NETWORK = ".train_state"
"""How the names of the leaves of network and optimizer begin."""


class CheckpointError(ParityError):
    """A checkpoint cannot be read, or does not fit the run; the message names it and says what to do."""


class WrongPart(Exception):
    """A part of a checkpoint is not what it must be; the message is the end of a sentence about the file."""


def format_of(world: str) -> str:
    """What the checkpoints of a world call themselves."""
    return f"{world} checkpoint"


def pack(payload: dict[str, Any], world: str) -> bytes:
    """The file of a checkpoint: its payload, a tree of plain values and arrays, and a checksum of it."""
    data = plain_pickle.dumps(payload)
    content = {
        "format": format_of(world),
        "version": FORMAT_VERSION,
        "sha256": hashlib.sha256(data).hexdigest(),
        "payload": data,
    }
    return plain_pickle.dumps(content)


def unpack(data: bytes, world: str) -> Any:  # noqa: ANN401 - a tree of plain values and arrays
    """The payload that ``pack`` was given; raises WrongPart or NotPlain for anything else."""
    content = plain_pickle.loads(data)
    kind, version, payload, checksum = (
        content.get(name) if is_object(content) else None for name in ("format", "version", "payload", "sha256")
    )
    if not isinstance(kind, str) or kind != format_of(world):
        raise WrongPart(f"it is a pickle of something else than a run of {world}")
    if type(version) is not int or version != FORMAT_VERSION:
        raise WrongPart(f"its format is version {shown(version)} and not {FORMAT_VERSION}")
    if not isinstance(payload, bytes) or hashlib.sha256(payload).hexdigest() != str(checksum):
        raise WrongPart("its checksum is wrong")
    return plain_pickle.loads(payload)


def part(whole: Any, name: str) -> Any:  # noqa: ANN401 - a tree of plain values
    """A part by its name."""
    if not is_object(whole) or name not in whole:
        raise WrongPart(f"it lacks {name!r}")
    return whole[name]


def text_of(value: object, name: str) -> str:
    """A text that a message can quote."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > SHOWN:
        raise WrongPart(f"its {name} is {shown(value)}")
    return value


def runner_of(value: object) -> dict[str, NDArray[Any]]:
    """The leaves of a run by their names; numbers, those of network and optimizer finite."""
    if not is_object(value) or not all(is_numeric(leaf) for leaf in value.values()):
        raise WrongPart("its runner is no object of arrays of numbers")
    for name, leaf in value.items():
        if name.startswith(NETWORK) and leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
            raise WrongPart(f"its {shown(name)[1:-1]} holds what is no number")
    return value


def is_numeric(value: object) -> bool:
    """Whether a value is an array of numbers or truth values."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
