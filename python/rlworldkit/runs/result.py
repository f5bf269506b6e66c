"""Progress and result of a run, whichever trainer made it."""

from pathlib import Path
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """Updates done, steps of all games, and seconds of training, compilation excluded."""

    updates: int = 0
    timesteps: int = 0
    seconds: float = 0.0


class TrainResult(NamedTuple):
    """Result of a call that trains.

    progress: that of the whole run. since: progress when this call began. files: those of the last save, the agent's
    file last; empty without a folder or a complete update. params: the trained parameters, if JAX trained them.
    """

    progress: Progress
    since: Progress
    files: list[Path]
    compile_seconds: float = 0.0
    params: Any = None

    @property
    def has_trained(self) -> bool:
        """Whether at least one update was complete."""
        return self.progress.timesteps > self.since.timesteps
