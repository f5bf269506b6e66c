"""When a run is saved: every so many updates or minutes, and at its end."""

import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from worldkit.jaxkit.env import JaxEnv
from worldkit.purejaxrl import parallel
from worldkit.purejaxrl.checkpoint_file import CheckpointError
from worldkit.purejaxrl.checkpointing import LATEST, checkpoint_path, save_checkpoint, save_params
from worldkit.purejaxrl.loop import LoopState
from worldkit.purejaxrl.params import params_path
from worldkit.runs.keeper import Keeper, reason

_NEVER = 2**31 - 1
_RETRY_SECONDS = 60.0
"""When a save that failed is tried again."""


class Saver:
    """Writes ``checkpoint_{updates}.pkl`` and ``params_{updates}.npz`` into ``folder``.

    A save in the middle of a run that fails (a full disk) is told once, and tried again when the next one is due, by
    time within a minute; earlier files stay.

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
        env: JaxEnv,
        *,
        every_updates: int | None = None,
        every_minutes: float = 10.0,
        say: Callable[[str], None],
        upload: Callable[[Path], None] = lambda path: None,
    ) -> None:
        self._folder, self._config, self._env = folder, config, env
        self._every_updates, self._every_seconds = every_updates, 60 * every_minutes
        self._keeper, self._upload = Keeper(say), upload
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
        went_well = self._keeper.attempt(
            checkpoint_path(self._folder, state.progress.updates), functools.partial(self._write, state), "checkpoint"
        )
        if not went_well:
            self._last_time = time.monotonic() - self._every_seconds + min(_RETRY_SECONDS, self._every_seconds)

    def save(self, state: LoopState) -> list[Path]:
        """Save now, unless this update is saved already; the files. Raises CheckpointError where they cannot be."""
        files = self._files(state)
        if parallel.agreed(float(self._last_updates != state.progress.updates)):  # where the first failed, all go again
            try:
                self._write(state)
            except OSError as error:
                missing = [str(file) for file in files if not file.exists()]
                raise CheckpointError(
                    f"{' and '.join(missing or map(str, files))} could not be written ({reason(error)}): make room, "
                    f"and `--resume {LATEST}`."
                ) from error
        return files

    def _files(self, state: LoopState) -> list[Path]:
        updates = state.progress.updates
        return [checkpoint_path(self._folder, updates), params_path(self._folder, updates)]

    def _write(self, state: LoopState) -> None:
        """Write both files, or the parameters alone where only they find room; raises OSError as writing does."""
        checkpoint, params = self._files(state)
        is_first = parallel.is_first_process()
        try:
            save_checkpoint(checkpoint, state, self._config, self._env)
        finally:
            if is_first:
                save_params(params, state.runner.train_state.playable_params)
        self._last_time, self._last_updates = time.monotonic(), state.progress.updates
        if is_first:
            for path in (checkpoint, params):
                self._upload(path)
