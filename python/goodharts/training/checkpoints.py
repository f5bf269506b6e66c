"""Everything that a run goes on from, in one file: ``models/ppo_{mode}.checkpoint.pth``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goodharts.config import Config
from goodharts.models import config_of, mode_of, read_torch, write_torch
from goodharts.training.trainer import Trainer
from parity.arguments import FileName
from parity.errors import UsageError
from parity.reading import Unreadable, is_count, shown

FORMAT = 1
_KIND = "checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """A run between two updates. name: that of its logs. state: see ``Trainer.state``."""

    path: Path
    mode: str
    name: str
    config: Config
    update: int
    timesteps: int
    state: Mapping[str, Any]


def checkpoint_path(mode: str, folder: Path = Path("models")) -> Path:
    """Where the checkpoint of a mode lies."""
    return folder / f"ppo_{mode}.checkpoint.pth"


def checkpoint_of(trainer: Trainer, name: str) -> dict[str, Any]:
    """What the file will hold; every process of a run takes part in this."""
    return {
        "format": FORMAT,
        "kind": _KIND,
        "mode": trainer.mode.name,
        "name": name,
        "network": {**asdict(trainer.network), "channels": list(trainer.network.channels)},
        "config": trainer.config.plain(),
        "update": trainer.update,
        "timesteps": trainer.timesteps,
        "state": trainer.state(),
    }


def write_checkpoint(path: Path, content: Mapping[str, Any]) -> None:
    """Write what ``checkpoint_of`` gave, whole or not at all; raises OSError as writing does."""
    write_torch(path, content)


def read_checkpoint(path: Path) -> Checkpoint:
    """The checkpoint in a file; raises UsageError with one sentence about whatever is wrong with it."""
    try:
        content = read_torch(path, FORMAT)
        if content.get("kind") != _KIND:
            raise Unreadable("it is no checkpoint")
        name = content.get("name")
        if FileName().fault(name):
            raise Unreadable(f"its name is {shown(name)}, which no log can have")
        for count in ("update", "timesteps"):
            if not is_count(content.get(count)):
                raise Unreadable(f"its {count} is {shown(content.get(count))}, not a count")
        config = Config().over(config_of(content), str(path)).validated()
        return Checkpoint(
            path, mode_of(content), str(name), config, content["update"], content["timesteps"], content.get("state", {})
        )
    except FileNotFoundError:
        raise UsageError(f"There is no checkpoint {path}: leave --resume out to begin anew.") from None
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read: {fault}; leave --resume out to begin anew.") from None


def restore(trainer: Trainer, checkpoint: Checkpoint) -> None:
    """Let a trainer go on from a checkpoint; raises UsageError where that is damaged, or of another engine."""
    engine = checkpoint.config.training.engine
    if engine != trainer.engine:
        raise UsageError(f"{checkpoint.path} was left by --engine {engine}, which {trainer.engine} cannot go on from.")
    try:
        trainer.restore(checkpoint.update, checkpoint.timesteps, checkpoint.state)
    except Unreadable as fault:
        raise UsageError(f"{checkpoint.path} cannot be used: {fault}; leave --resume out to begin anew.") from None
    except Exception as error:  # damaged values fail in every way there is
        raise UsageError(
            f"{checkpoint.path} is damaged ({type(error).__name__}): leave --resume out to begin anew."
        ) from None
