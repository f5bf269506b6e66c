"""Outputs, result and clean end of one training run, whichever trainer runs it."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from rich.console import Console

from rlparity.errors import ParityError
from rlparity.io.strict_json import json_text
from rlworldkit.runs.console import ConsoleProgress
from rlworldkit.runs.folder import (
    CONFIG,
    CURVE,
    LOCK,
    METRICS,
    METRICS_LINES,
    RECORDS,
    locked,
    make_folder,
    move_aside,
    read_saved_config,
)
from rlworldkit.runs.retrying_writer import RetryingWriter
from rlworldkit.runs.sinks import CsvLog, JsonLinesLog, Metrics, Milestone, Sink, TensorBoardLog, read_csv
from rlworldkit.runs.stop import StopRequest
from rlworldkit.runs.wandb_run import Tracking, WandbRun


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


class TrainingDiverged(ParityError):
    """The loss is NaN or infinite."""

    exit_code = 1


class Run:
    """Context of a run: its folder, progress, metrics and end. A trainer calls ``begin`` once it knows its steps.

    Without arguments it shows, writes and changes nothing, which suits a notebook. Entering creates the folder if it
    does not exist, and locks it; if the run fails while the folder is empty, the folder is removed. Entering raises
    UsageError if the folder cannot be written, or another process trains into it. Trainers enter the context; if the
    caller has entered it before, only the caller's exit ends the run. A file that cannot be written never ends the run:
    ``writer`` reports and retries it, and ``writer.failing`` lists the files that are incomplete at the end.

    Args:
        folder: the folder for all files; None: nothing is written.
        title: the title of the learning curve.
        console: where progress is shown; None: nowhere.
        step: the metric that counts the run's steps in files and on W&B, ``update`` or ``timesteps``.
        tracking: settings of W&B, for a run with a folder; None: W&B is not used.
        milestone: a metric to show besides the return.
        stop: tells whether the run should end early; pass a StopRequest to end cleanly on Ctrl-C and ``kill``.
        report: takes each row of metrics, with or without a folder.
        sinks: further sinks of a run with a folder.
        print_line: takes lines for the user, instead of the console.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        title: str = "training",
        console: Console | None = None,
        step: str = "update",
        tracking: Tracking | None = None,
        milestone: Milestone | None = None,
        stop: StopRequest | None = None,
        report: Callable[[Metrics], None] = lambda metrics: None,
        sinks: Sequence[Sink] = (),
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.console = console or Console(quiet=True)
        self.print_line = print_line or self._print
        self._report = report
        self.stop = stop or StopRequest()
        self._title, self._step, self._milestone = title, step, milestone
        self._tracking = tracking or Tracking(enabled=False)
        self.writer = RetryingWriter(self.print_line)
        self._stack, self._depth = contextlib.ExitStack(), 0
        self._sinks, self._further_sinks = list[Sink](), sinks
        self._progress: ConsoleProgress | None = None
        self._wandb: WandbRun | None = None

    def begin(
        self,
        settings: Mapping[str, Any],
        total_timesteps: int,
        *,
        after: int = 0,
        is_resumed: bool = False,
        later: Sequence[Path] = (),
    ) -> None:
        """Open all sinks of metrics, and write the settings, plain values, to ``config.json`` and W&B.

        after: the step after which a resumed run continues; rows of later steps are dropped from its files. is_resumed:
        whether to continue the folder's run on W&B. later: the folder's agents of later steps; if there are any, the
        run becomes a branch. They are moved into a subfolder with copies of the run's records, and the rows of later
        steps are dropped from the records at once. Raises UsageError if a file of an earlier session cannot be read, or
        ``later`` cannot be moved.
        """
        self._progress = ConsoleProgress({"training": total_timesteps}, self.console, self._milestone)
        if folder := self.folder:
            kept = read_saved_config(folder).get("wandb_id") if is_resumed else None
            logs = [  # created first, since they raise if files of an earlier session are damaged
                CsvLog(folder / METRICS, self._step, after),
                JsonLinesLog(folder / METRICS_LINES, self._step, after),
            ]
            if later:
                aside = move_aside(folder, later, [folder / name for name in RECORDS])
                self.print_line(
                    f"This is a branch: what the run had after its {self._step} {after:,} is in {aside} now."
                )
                for log in logs:
                    self.writer.attempt(log.path, log.drop_later)
            board = TensorBoardLog(folder / "tensorboard", self._step, after)
            wandb = WandbRun(
                self.print_line, folder, self._tracking, settings, step=self._step, run_id=kept, after=after
            )
            plain = {**settings, "wandb_id": wandb.run_id or kept}
            self.writer.write(folder / CONFIG, (json_text(plain, indent=2, default=repr) + "\n").encode())
            self._sinks, self._wandb = [*logs, board, wandb, *self._further_sinks], wandb
            self._stack.push(partial(self._end_files, folder))
        self._stack.enter_context(self._progress)

    def write(self, metrics: Metrics) -> None:
        """Write the metrics of one interval to the progress display, ``report`` and all sinks."""
        if self._progress:
            self._show(self._progress.write, metrics)
        self._report(metrics)
        self.writer.retry()
        for sink in self._sinks:
            self.writer.attempt(sink.path, partial(sink.write, metrics))

    def advance(self, timesteps: int) -> None:
        """Move the progress bar between two rows of metrics."""
        if self._progress:
            self._progress.advance(timesteps)

    def show_evaluation(self, text: str) -> None:
        """Show the progress of an evaluation between two steps; an empty text ends it."""
        if self._progress:
            self._show(self._progress.show_evaluation, text)

    def upload(self, path: Path) -> None:
        """Upload a file to W&B, if uploads are enabled."""
        if self._wandb:
            self._wandb.upload(path)

    def _print(self, line: str) -> None:
        self._show(self.console.print, line, soft_wrap=True, highlight=False, markup=False)

    def __enter__(self) -> Self:
        self._depth += 1
        if self.folder is not None and self._depth == 1:
            make_folder(self.folder, "choose another")
            self._stack.enter_context(locked(self.folder))
            self._stack.push(partial(_remove_if_empty, self.folder))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._stack.__exit__(kind, error, trace)

    def _end_files(self, folder: Path, *_: object) -> None:
        self.writer.retry()
        for sink in self._sinks:
            self.writer.attempt(sink.path, sink.flush)
        if rows := read_csv(folder / METRICS):
            from rlworldkit.runs.curve import draw_curve  # matplotlib takes a while to import

            path, title = folder / CURVE, f"{self._title}: {folder.name}"
            self.writer.attempt(path, partial(draw_curve, rows, path, title, self._milestone))
        if self._wandb:
            self._wandb.close()
        if self.writer.failing:
            self.print_line(f"Not complete, because they could not be written: {', '.join(self.writer.failing)}.")

    def _show(self, show: Callable[..., None], *arguments: object, **options: object) -> None:
        try:
            show(*arguments, **options)
        except (BrokenPipeError, SystemExit):
            # The reader of the output is gone, as after `| head`, and rich asks to exit: the run ends as on Ctrl-C,
            # with everything saved.
            self.stop.requested = True
        except OSError:
            pass  # the output is a file on a full disk: the text is printed with the next one


def _remove_if_empty(folder: Path, kind: type[BaseException] | None, *_: object) -> None:
    """Remove the folder of a run that failed before it wrote anything."""
    with contextlib.suppress(OSError):
        if kind is not None and [path.name for path in folder.iterdir()] == [LOCK]:
            (folder / LOCK).unlink()
            folder.rmdir()
