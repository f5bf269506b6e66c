"""Log a run to Weights & Biases, if possible, without ever holding the run up."""

import logging
import math
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from rlworldkit.runs.sinks import Metrics, Sink

_T = TypeVar("_T")

_OFFLINE = ("offline", "dryrun")
_CONNECT_SECONDS = 20
_CALL_SECONDS = 30.0
"""Deadline of a call in seconds, longer than that of connecting, whose failure W&B reports itself."""
_FINISH_SECONDS = 120.0
"""Deadline of finishing in seconds, while W&B sends the remaining data."""
_ROOM = 256 * 1024
"""Bytes that must be free on the disk before W&B gets more data: it writes blocks of 32 KiB, and other files."""


@dataclass(frozen=True)
class Tracking:
    """Settings of a run on W&B.

    project, entity: where the run goes; by default to the account's own entity. enabled: if false, W&B is left out
    silently. upload: whether models are uploaded too.
    rewind: whether a resumed run drops its history on W&B after its checkpoint.
    """

    project: str = "worlds"
    entity: str | None = None
    enabled: bool = True
    upload: bool = True
    rewind: bool = False


class WandbRun(Sink):
    """Sink for a run on W&B; if W&B cannot be opened, fails or hangs, it is left out, and ``print_line`` gets one line.

    folder: the run's folder, which gives it its name; W&B keeps its files there. config: the run's settings. step: the
    metric that counts its steps. run_id: the id of a run to continue after the step ``after``; None: a new run. If
    ``tracking`` asks for a rewind that is impossible, ``print_line`` gets the reason.
    """

    def __init__(
        self,
        print_line: Callable[[str], None],
        folder: Path,
        tracking: Tracking,
        config: Mapping[str, Any],
        *,
        step: str = "update",
        run_id: str | None = None,
        after: int = 0,
    ) -> None:
        super().__init__(folder / "wandb")
        self._print_line, self._step, self._uploads = print_line, step, tracking.upload
        self._run: Any = None
        mode = os.environ.get("WANDB_MODE", "online")
        if tracking.rewind and (obstacle := _no_rewind(tracking.enabled, mode, run_id)):
            print_line(f"--rewind has no effect: {obstacle}.")
        if not tracking.enabled or mode == "disabled":
            return
        if find_spec("wandb") is None:
            self._leave_out("it is not installed (pip install wandb)")
            return
        continued: dict[str, Any] = {"id": run_id}
        if run_id is not None and mode not in _OFFLINE:
            rewound = {"resume_from": f"{run_id}?_step={after}"}
            continued = rewound if tracking.rewind else {"id": run_id, "resume": "allow"}

        def start() -> Any:  # noqa: ANN401 - W&B's run, or None where nobody is logged in
            if not (mode in _OFFLINE or wandb.api.api_key):
                return None
            return wandb.init(
                **continued,
                project=tracking.project,
                entity=tracking.entity,
                mode=os.environ.get("WANDB_MODE"),  # type: ignore[arg-type]  # W&B reads it but once in a process
                name=folder.name,
                dir=str(folder),
                config=dict(config),
                settings=wandb.Settings(silent=True, reinit="create_new", console="off", init_timeout=_CONNECT_SECONDS),
            )

        try:
            import wandb  # imported here, since it takes a while

            _check_room(folder)
            self._run = _in_time(start, _CALL_SECONDS)
        except Exception as error:
            self._give_up(error)
        else:
            if self._run is None:
                self._leave_out("nobody is logged in (`wandb login`, or WANDB_MODE=offline)")
        for handler in logging.getLogger("wandb").handlers:
            # W&B writes a log of its own, whose tracebacks would fill the terminal if the disk is full
            handler.handleError = lambda record: None  # type: ignore[method-assign]

    @property
    def run_id(self) -> str | None:
        """The run's id on W&B; None without one."""
        return None if self._run is None else str(self._run.id)

    def _write(self, rows: Sequence[Metrics]) -> None:
        """Send rows of metrics, each at its own step; raises OSError while the disk is full."""
        if self._run is not None:
            _check_room(self.path.parent)
        for metrics in rows:
            numbers = {name: value for name, value in metrics.items() if not math.isnan(value)}
            self._call(_CALL_SECONDS, "log", numbers, step=int(numbers[self._step]))

    def upload(self, path: Path) -> None:
        """Upload a file to W&B as an artifact of the run, if uploads are enabled."""
        if self._uploads:
            name = f"{self.run_id}-{path.stem.split('_')[0]}"
            self._call(_CALL_SECONDS, "log_artifact", str(path), name=name, type="model")

    def close(self) -> None:
        """Finish the run; closing twice is fine."""
        self._call(_FINISH_SECONDS, "finish")
        self._run = None

    def _call(self, seconds: float, method: str, *arguments: object, **options: object) -> None:
        if self._run is None:
            return
        try:
            _in_time(partial(getattr(self._run, method), *arguments, **options), seconds)
        except Exception as error:
            self._run = None
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._leave_out(_reason(error))
        if wandb := sys.modules.get("wandb"):
            # when this process exits, W&B would wait for its own process, which may hang too
            threading.Thread(target=wandb.teardown, daemon=True).start()

    def _leave_out(self, why: str) -> None:
        self._print_line(f"W&B is left out: {why}; --no-wandb silences this.")


def _check_room(folder: Path) -> None:
    """Raise OSError if the disk is too full for W&B, which would otherwise silently stop writing for good."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(_ROOM))


def _no_rewind(enabled: bool, mode: str, run_id: str | None) -> str | None:
    """Return why the history on W&B cannot be rewound; None if it can."""
    if not enabled or mode == "disabled":
        return "W&B is left out"
    if mode in _OFFLINE:
        return "W&B is offline, and only its server rewinds a run"
    return "the run has no id on W&B" if run_id is None else None


def _in_time(call: Callable[[], _T], seconds: float) -> _T:
    """Return the result of ``call``; raise TimeoutError if it takes longer, and let it finish in its thread."""
    answer: Future[_T] = Future()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    try:
        return answer.result(seconds)
    except TimeoutError:
        raise TimeoutError(f"it gave no answer within {seconds:g} seconds") from None


def _reason(error: Exception) -> str:
    """Return why W&B fails, in one line."""
    from pydantic import ValidationError  # W&B validates its settings with pydantic

    if isinstance(error, ValidationError):
        fault = error.errors()[0]
        return f"WANDB_{'_'.join(map(str, fault['loc'])).upper()} cannot be used ({fault['msg']})"
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
