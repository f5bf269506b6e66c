"""When a run is saved: every so many updates or minutes, and at its end."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worldkit.purejaxrl import parallel
from worldkit.purejaxrl.checkpointing import (
    CheckpointError,
    checkpoint_path,
    params_path,
    save_checkpoint,
    save_params,
)
from worldkit.purejaxrl.loop import LoopState
from worldkit.purejaxrl.train_env import TrainEnv

_NEVER = 2**31 - 1


class Saver:
    """Writes ``checkpoint_{updates}.pkl`` and ``params_{updates}.npz`` into ``folder``.

    A save in the middle of a run that fails (a full disk) is said and tried again when the next one is due;
    earlier files stay.

    Args:
        folder: where the files go.
        config: the run's settings, plain values.
        env: the world.
        every_updates: save after every so many updates; None: by time.
        every_minutes: save after so many minutes.
        say: takes a line for the user.
        upload: takes every file written.
    """

    def __init__(
        self,
        folder: Path,
        config: dict[str, Any],
        env: TrainEnv,
        *,
        every_updates: int | None = None,
        every_minutes: float = 10.0,
        say: Callable[[str], None],
        upload: Callable[[Path], None] = lambda path: None,
    ) -> None:
        self._folder, self._config, self._env = folder, config, env
        self._every_updates, self._every_seconds = every_updates, 60 * every_minutes
        self._say, self._upload = say, upload
        self._last_time = time.monotonic()
        self._last_updates: int | None = None

    def updates_left(self, updates: int) -> int:
        """After how many more updates it must be asked again whether to save."""
        return self._every_updates - updates % self._every_updates if self._every_updates else _NEVER

    def after(self, state: LoopState) -> None:
        """Save if it is time."""
        if self._every_updates:
            is_due = state.progress.updates % self._every_updates == 0
        else:
            is_due = bool(parallel.agreed(time.monotonic() - self._last_time >= self._every_seconds))
        if not is_due:
            return
        try:
            self.save(state)
        except CheckpointError as error:
            self._last_time = time.monotonic()
            self._say(f"{error} Training goes on.")

    def save(self, state: LoopState) -> list[Path]:
        """Save now, unless this update is saved already; the files. Raises CheckpointError where they cannot be."""
        progress = state.progress
        checkpoint = checkpoint_path(self._folder, progress.updates)
        params = params_path(self._folder, progress.updates)
        if self._last_updates != progress.updates:
            try:
                if parallel.is_first_process():
                    save_params(params, state.runner.train_state.params)
                save_checkpoint(checkpoint, state, self._config, self._env)
            except OSError as error:
                raise CheckpointError(f"{checkpoint} could not be written ({error.strerror}).") from error
            self._last_time, self._last_updates = time.monotonic(), progress.updates
            if parallel.is_first_process():
                for path in (checkpoint, params):
                    self._upload(path)
        return [checkpoint, params]
