"""Everything that a run goes on from, in one file: ``models/ppo_{mode}.checkpoint.pth``."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodharts.config import JAX, Config
from goodharts.models import config_of, mode_of, progress_of, read_torch
from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import FileName
from rlparity.io.safe_read import Unreadable, is_object
from rlparity.spaces import is_number

FORMAT = 1
KIND = "checkpoint"
_PICKLE = b"\x80\x04"
"""The first bytes of rlworldkit's checkpoints, but not of torch's."""
BEGIN_ANEW = "leave --resume out to begin anew"


@dataclass(frozen=True)
class Checkpoint:
    """A run between two updates. state: see ``TorchTrainer.state``; of ``--engine jax`` rlworldkit's ``Checkpoint``."""

    path: Path
    mode: str
    name: str
    config: Config
    update: int
    timesteps: int
    seconds: float
    state: Any


def checkpoint_path(mode: str, folder: Path = Path("models")) -> Path:
    """Return the path of a mode's checkpoint."""
    return folder / f"ppo_{mode}.checkpoint.pth"


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint; raises UsageError with one sentence about whatever is wrong with the file."""
    try:
        with path.open("rb") as file:
            is_jax = file.read(len(_PICKLE)) == _PICKLE
        if is_jax:
            return _read_jax(path)
        content = read_torch(path, FORMAT)
        if content.get("kind") != KIND:
            raise Unreadable("it is no checkpoint")
        update, timesteps = progress_of(content)
        seconds = content.get("seconds", 0.0)  # files of earlier versions do not say
        if not is_number(seconds) or seconds < 0:
            raise Unreadable(f"its seconds are {quoted(seconds)}")
        mode, name, config = mode_of(content), _name_of(content), _config_of(content, path)
        if config.training.engine == JAX:
            raise Unreadable("an earlier version of --engine jax left it")
        return Checkpoint(path, mode, name, config, update, timesteps, float(seconds), content.get("state", {}))
    except FileNotFoundError:
        raise UsageError(f"There is no checkpoint {path}: {BEGIN_ANEW}.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); {BEGIN_ANEW}.") from None
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read: {fault}; {BEGIN_ANEW}.") from None


def _read_jax(path: Path) -> Checkpoint:
    """Read a checkpoint of rlworldkit's trainer; raises UsageError with one sentence, or Unreadable."""
    from goodharts.jax_training import env_by
    from rlworldkit.ppo.checkpoint_format import CheckpointError, as_checkpoint_errors, part, read_payload
    from rlworldkit.ppo.checkpoints import read_checkpoint

    try:
        with as_checkpoint_errors(path, BEGIN_ANEW):
            kept = part(read_payload(path, None), "config")
        if not is_object(kept):
            raise Unreadable("its config is no object")
        mode = mode_of(kept)
        config = _config_of({"config": kept.get("goodharts")}, path)
        found = read_checkpoint(path, env_by(config, mode), BEGIN_ANEW)
    except CheckpointError as error:
        raise UsageError(str(error)) from None
    return Checkpoint(path, mode, _name_of({"name": kept.get("run_name")}), config, *found.progress, found)


def _name_of(content: Mapping[str, Any]) -> str:
    name = content.get("name")
    if FileName().fault(name):
        raise Unreadable(f"its name is {quoted(name)}, which no log can have")
    return str(name)


def _config_of(content: Mapping[str, Any], path: Path) -> Config:
    return Config().over(config_of(content), str(path)).validated()
