"""What a run of one mode leaves on the disk; a disk that fills up never ends it."""

from __future__ import annotations

import contextlib
import datetime
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from goodharts.models import Model, model_path, read_model, write_model
from goodharts.training.checkpoints import checkpoint_path, write_checkpoint
from goodharts.training.trainer import Row, Updated
from parity.errors import ParityError
from parity.strict_json import json_text
from worldkit.runs.branch import move_aside
from worldkit.runs.folder import make_folder
from worldkit.runs.lock import locked
from worldkit.runs.retrying_writer import RetryingWriter
from worldkit.runs.sinks import CsvLog, TensorBoardLog

MODELS, LOGS, RUNS = "models", "logs", "runs"
"""Folders in the working directory."""
_TEXTS = ("mode",)
_STEP = "update"


def run_name(mode: str) -> str:
    """The name of a new run's logs."""
    return f"{mode}_{datetime.datetime.now():%Y%m%d-%H%M%S}"


@contextlib.contextmanager
def reserved(modes: list[str], folder: Path = Path()) -> Iterator[None]:
    """Make the folders, and hold what these modes are trained into against other trainers.

    Raises UsageError where a folder cannot be written to, or where another trainer is at work on one of the modes.
    """
    for name in (MODELS, LOGS, RUNS):
        make_folder(folder / name, "make room there, or train in another folder")
    with contextlib.ExitStack() as stack:
        for mode in modes:
            path = model_path(mode, folder / MODELS)
            refusal = f"Another process is training {path}: let it end first, or train in another folder."
            stack.enter_context(locked(path.parent, f"ppo_{mode}.lock", refusal))
        yield


class Outputs:
    """The files of one run: ``models/ppo_{mode}.pth`` with its checkpoint, ``logs/{name}_*`` and ``runs/{name}/``.

    Args:
        mode: what is trained. name: of the run's logs.
        after: the update that a resumed run goes on from; what its logs say of later ones comes again.
        say: takes a line for the user.
        folder: where the three folders are.

    A run that goes back, to a checkpoint that was put aside and put back, keeps its later agent and logs in
    ``models/abandoned-N/``.

    Raises UsageError where there is a log of this name that holds something else, or no room for that.
    """

    def __init__(
        self, mode: str, name: str, say: Callable[[str], None], *, after: int = 0, folder: Path = Path()
    ) -> None:
        logs = folder / LOGS
        self.model = model_path(mode, folder / MODELS)
        self.checkpoint = checkpoint_path(mode, folder / MODELS)
        self.summary = logs / f"{name}_summary.json"
        self._writer = RetryingWriter(say)
        self._updates = CsvLog(logs / f"{name}_updates.csv", _STEP, after)
        self._episodes = CsvLog(logs / f"{name}_episodes.csv", _STEP, after)
        self._board = TensorBoardLog(folder / RUNS / name, _STEP, after)
        if after and _updates_of(self.model) > after:
            records = (self.model, self._updates.path, self._episodes.path, self.summary)
            aside = move_aside(folder / MODELS, (), records)
            say(f"This is a branch: the agent and the logs of later updates than {after:,} are kept in {aside}.")

    @property
    def files(self) -> list[Path]:
        """Everything of the run that is there."""
        paths = (
            self.model,
            self.checkpoint,
            self._updates.path,
            self._episodes.path,
            self.summary,
            self._board.path,
        )
        return [path for path in paths if path.exists()]

    @property
    def failing(self) -> list[str]:
        """What could not be written when it was last tried, each with the reason."""
        return self._writer.failing

    def write(self, updated: Updated) -> None:
        """Log an update and the episodes that ended in it."""
        numbers = {
            name: math.nan if value is None else value for name, value in updated.row.items() if name not in _TEXTS
        }
        for log in (self._updates, self._board):
            self._writer.attempt(log.path, partial(log.write, numbers))
        self._writer.attempt(self._episodes.path, partial(self._episodes.write_all, updated.episodes))

    def save(self, model: Model, checkpoint: Mapping[str, Any]) -> bool:
        """Save the agent and what training goes on from; whether both are on the disk."""
        saved = self._writer.attempt(self.checkpoint, partial(write_checkpoint, self.checkpoint, checkpoint))
        return self._writer.attempt(self.model, partial(write_model, self.model, model)) and saved

    def end(self, summary: Row) -> None:
        """Write the summary, and whatever could not be written before."""
        for log in (self._updates, self._episodes, self._board):
            self._writer.attempt(log.path, log.end)
        self._writer.write(self.summary, (json_text(summary, indent=2) + "\n").encode())


def _updates_of(model: Path) -> int:
    """How many updates an agent has had; 0 where none can be read."""
    try:
        return read_model(model).update
    except ParityError:
        return 0
