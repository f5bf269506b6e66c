"""Schedule and files of the saves of a run in JAX."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rlparity.errors import ParityError
from rlworldkit.jax.env import JaxEnv
from rlworldkit.ppo import parallel
from rlworldkit.ppo.checkpoints import LoopState, save_checkpoint
from rlworldkit.ppo.params import Params, checkpoint_path, params_path, save_params
from rlworldkit.runs.folder import LATEST
from rlworldkit.runs.retrying_writer import RetryingWriter, reason
from rlworldkit.runs.run import Progress, Run

_NEVER = 2**31 - 1
_RETRY_SECONDS = 60.0
"""Seconds until a failed save is retried."""


@dataclass
class Saver:
    """Saves a run on a schedule; a run with a folder is always saved at its end.

    A save that fails in the middle of a run (a full disk) is reported once. It is retried when the next save is due,
    on a schedule by time within a minute; earlier files stay.

    every_updates: the number of updates between saves; None: saves are ``every_minutes`` apart.
    checkpoint: the path of the latest checkpoint; None: ``checkpoint_{updates}.pkl`` in the folder.
    agent: a path and the function that writes the agent there at a save; None: ``params_{updates}.npz`` in the folder.
    """

    every_updates: int | None = None
    every_minutes: float = 10.0
    checkpoint: Path | None = None
    agent: tuple[Path, Callable[[Params, Progress], None]] | None = None

    def begin(self, run: Run, env: JaxEnv, settings: dict[str, Any]) -> None:
        """Start to save a run; settings: those of the run, as plain values."""
        self._run, self._env, self._settings = run, env, settings
        self._writer = RetryingWriter(run.print_line)
        self._last_time, self._last_updates = time.monotonic(), -1

    def updates_left(self, updates: int) -> int:
        """Number of updates until a save is due by their count; practically infinite on a schedule by time."""
        return self.every_updates - updates % self.every_updates if self.every_updates else _NEVER

    def after(self, state: LoopState) -> None:
        """Save if a save is due."""
        seconds = 60 * self.every_minutes
        if self.every_updates:
            is_due = state.progress.updates % self.every_updates == 0
        else:
            is_due = bool(parallel.agreed(time.monotonic() - self._last_time >= seconds))
        if is_due and not self._writer.attempt(self._files(state)[0], partial(self._write, state), "checkpoint"):
            self._last_time = time.monotonic() - seconds + min(_RETRY_SECONDS, seconds)

    def save(self, state: LoopState) -> list[Path]:
        """Save now, unless this update is saved already; return the files. Raises ParityError if writing fails."""
        files = self._files(state)
        if parallel.agreed(float(self._last_updates != state.progress.updates)):  # if the first failed, all retry
            try:
                self._write(state)
            except OSError as error:
                missing = [str(file) for file in files if not file.exists()]
                raise ParityError(
                    f"{' and '.join(missing or map(str, files))} could not be written ({reason(error)}): make room, "
                    f"and `--resume {LATEST}`."
                ) from error
        return files

    def _files(self, state: LoopState) -> list[Path]:
        updates, folder = state.progress.updates, self._run.folder or Path()
        checkpoint = self.checkpoint or checkpoint_path(folder, updates)
        return [checkpoint, self.agent[0] if self.agent else params_path(folder, updates)]

    def _write(self, state: LoopState) -> None:
        """Write checkpoint and agent, the agent even if the checkpoint fails; raises OSError as writing does."""
        checkpoint, agent = self._files(state)
        is_first = parallel.is_first_process()
        try:
            save_checkpoint(checkpoint, state, self._settings, self._env)
        finally:
            params = state.runner.train_state.playable_params
            if is_first and self.agent:
                self.agent[1](params, state.progress)
            elif is_first:
                save_params(agent, params)
        self._last_time, self._last_updates = time.monotonic(), state.progress.updates
        if is_first:
            for path in (checkpoint, agent):
                self._run.upload(path)
