"""What a run came to, whichever trainer made it."""

from pathlib import Path
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """Updates done, steps of all games, and seconds of training, compilation excluded."""

    updates: int = 0
    timesteps: int = 0
    seconds: float = 0.0


class TrainResult(NamedTuple):
    """Result of a call that trains.

    progress: of the whole run. since: where this call began. files: of the last save, the agent's last; none where
    there is no folder, or no update was complete. params: the trained parameters, of the trainer in JAX.
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
