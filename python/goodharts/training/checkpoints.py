"""Checkpoints of both engines, ``models/ppo_{mode}.checkpoint.pth``, in rlworldkit's format."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goodharts.config import JAX, Config
from goodharts.models import mode_of
from goodharts.rules import VERSION
from rlparity.errors import quoted
from rlparity.io.arguments import FileName
from rlparity.io.atomic_write import write_whole
from rlparity.io.safe_read import Unreadable, is_object, refused
from rlworldkit.ppo.checkpoint_format import (
    pack,
    part,
    read_payload,
    rules_version_of,
    runner_of,
)
from rlworldkit.runs.result import Progress

BEGIN_ANEW = "leave --resume out to begin anew"
SETTINGS = "goodharts"
"""The entry of a run's settings that holds those of ``Config``."""
_NAMES = {"mode", "run_name", SETTINGS}


class Checkpoint(NamedTuple):
    """A run between two updates; one of a group that has not begun has had none.

    name: of its logs. arrays: all that training goes on from, by name, with ``--engine torch``. state: rlworldkit's
    ``Checkpoint``, with ``--engine jax``.
    """

    path: Path
    mode: str
    name: str
    config: Config
    progress: Progress
    arrays: Mapping[str, NDArray[Any]] = {}
    state: Any = None


def checkpoint_path(mode: str, folder: Path = Path("models")) -> Path:
    """Return the path of a mode's checkpoint."""
    return folder / f"ppo_{mode}.checkpoint.pth"


def write_checkpoint(start: Checkpoint) -> None:
    """Write what a run of ``--engine torch``, or one that has not begun, goes on from; raises OSError as writing."""
    payload = {
        "runner": {name: np.asarray(array) for name, array in start.arrays.items()},
        "progress": start.progress._asdict(),
        "config": {"mode": start.mode, "run_name": start.name, SETTINGS: start.config.plain()},
        "rules_version": VERSION,
    }
    write_whole(start.path, pack(payload, f"goodharts-{start.mode}"))


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raises UsageError with one sentence about whatever is wrong with the file."""
    with refused(path, "checkpoint", BEGIN_ANEW, BEGIN_ANEW):
        payload = read_payload(path, None)
        begun = _begun(path, part(payload, "config"))
        if (version := rules_version_of(payload)) != VERSION:
            raise Unreadable(f"it is of version {version} of the rules, not {VERSION}")
        if not part(payload, "runner"):
            return begun
        if begun.config.training.engine != JAX:
            progress = Progress(**part(payload, "progress"))
            return begun._replace(progress=progress, arrays=runner_of(payload))
    from goodharts.env import env_by
    from rlworldkit.ppo.checkpoints import read_checkpoint as read_in_jax

    state = read_in_jax(path, env_by(begun.config, begun.mode), BEGIN_ANEW)
    return begun._replace(progress=state.progress, state=state)


def _begun(path: Path, kept: Any) -> Checkpoint:  # noqa: ANN401 - plain values
    """A checkpoint by the settings that it keeps; raises Unreadable, or UsageError for those that are impossible."""
    if not is_object(kept) or not kept.keys() >= _NAMES or not is_object(kept[SETTINGS]):
        raise Unreadable("it is none of `goodharts train`")
    name = kept["run_name"]
    if FileName().fault(name):
        raise Unreadable(f"its name is {quoted(name)}, which no log can have")
    return Checkpoint(path, mode_of(kept), name, Config().over(kept[SETTINGS], str(path)).validated(), Progress())
