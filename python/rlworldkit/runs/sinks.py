"""Metrics on the disk: ``metrics.csv``, ``metrics.jsonl`` and TensorBoard's event files.

Every row names its step in the column ``step`` of the sink: ``update`` or ``timesteps``. A row that cannot be written,
because the disk is full say, raises OSError, is kept, and is written before the next one.

A resumed run hands in the step it resumes after. Rows of later steps that an earlier session left stay until its first
row is there, since they come again then.
"""

import contextlib
import csv
import io
import json
import math
import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlparity.errors import UsageError, quoted
from rlparity.io.atomic_write import write_whole
from rlparity.io.safe_read import MIB, Unreadable, read_text, refused
from rlparity.io.strict_json import json_text

LIMIT = 256 * MIB
"""The largest file of metrics that is read, in bytes."""
Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Milestone:
    """A whole number by which people follow a run besides its return, such as the highest level reached.

    metric: its name among the metrics. name: what progress calls it. title, unit: those of its picture.
    least, most: the range in which it lies.
    """

    metric: str
    name: str
    title: str
    unit: str
    least: int
    most: int


def seconds_left(first: Metrics, newest: Metrics, total: int) -> float:
    """The time that a run still takes to its ``total`` steps, by its first row and its newest one."""
    steps, seconds = (newest[name] - first[name] for name in ("timesteps", "seconds"))
    if not steps:  # the first row of a resumed run also counts the sessions before
        steps, seconds = newest["timesteps"], newest["seconds"]
    return (total - newest["timesteps"]) * seconds / steps


_Row = Mapping[str, Any]
"""A row as it stands in a file: cells of text, or values of JSON."""


class AppendedFile:
    """A file that grows by whole pieces; it need not exist yet, and beyond ``length`` bytes lies half a piece."""

    def __init__(self, path: Path, length: int = 0) -> None:
        self._path, self._length = path, length

    def append(self, piece: bytes) -> None:
        """Add all of ``piece``. Raises OSError as writing does, and then the file is as long as it was."""
        try:
            with self._path.open("ab") as file:
                file.truncate(min(self._length, file.tell()))
                file.write(piece)
        except OSError:
            with contextlib.suppress(OSError):  # else the next call does it
                os.truncate(self._path, min(self._length, self._path.stat().st_size))
            raise
        self._length = self._path.stat().st_size


class Sink(ABC):
    """A receiver of the metrics of each logging interval, which go to ``path``. It holds no file open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[Metrics] = []

    def write(self, metrics: Metrics) -> None:
        """Write the metrics of an interval by their names; raises OSError where that fails, and keeps them."""
        self._waiting.append(dict(metrics))
        self.flush()

    def flush(self) -> None:
        """Write what could not be written yet; raises OSError as writing does."""
        if self._waiting:
            self._write(self._waiting)
            self._waiting = []

    @abstractmethod
    def _write(self, rows: Sequence[Metrics]) -> None:
        """Write the metrics of these intervals; raises OSError where none of them could be written."""


class _RowLog(Sink):
    """A text file with a row per logging interval, of a run that resumes after the step ``after``.

    step: the column that names a row's step. Raises UsageError where there is a file that holds something else.
    """

    def __init__(self, path: Path, step: str = "update", after: int = 0) -> None:
        super().__init__(path)
        self._step, self._last = step, float(after)  # the last step whose row is this run's and on the disk
        self._file: AppendedFile | None = None  # where this run has written a row
        _complete_lines(path)

    def write_all(self, rows: Iterable[Metrics]) -> None:
        """Write rows at once; several may be of one step, and then a step's come together."""
        self._waiting += map(dict, rows)
        self.flush()

    def _write(self, rows: Sequence[Metrics]) -> None:
        if self._file and self._can_append(rows):
            self._file.append(self._text(rows).encode())
        else:
            self._rewrite(rows)
        self._last = self._step_of(rows[-1])

    def drop_later(self) -> None:
        """Drop rows of later steps than the run's last; raises OSError as writing does."""
        if self.path.exists():
            self._rewrite(())

    def _rewrite(self, rows: Sequence[Metrics]) -> None:
        """Write the whole file anew: the run's rows, and these."""
        own = [row for row in self._read() if self._step_of(row) <= self._last]
        content = self._text([*own, *rows], is_whole=True).encode()
        self._file = None  # lest the next rows are appended where this one fails
        write_whole(self.path, content)
        self._file = AppendedFile(self.path, len(content))

    def _step_of(self, row: _Row) -> float:
        """A row's step; infinite for one that is damaged, which comes again."""
        try:
            return float(row[self._step])
        except (ValueError, KeyError, TypeError, OverflowError):
            return math.inf

    @abstractmethod
    def _read(self) -> Iterable[_Row]:
        """Read the whole rows of the file, none where there is no file."""

    @abstractmethod
    def _text(self, rows: Sequence[_Row], *, is_whole: bool = False) -> str:
        """Return the lines of these rows; ``is_whole``: with the heading of a file."""

    def _can_append(self, rows: Sequence[_Row]) -> bool:
        return True


class CsvLog(_RowLog):
    """One row per logging interval, on the disk at once; a mean over no episodes is an empty cell.

    A metric that comes up later gets a column, empty in the rows before.
    """

    def __init__(self, path: Path, step: str = "update", after: int = 0) -> None:
        super().__init__(path, step, after)
        self._columns: Sequence[str] = ()
        rows = read_csv(path)
        if rows and step not in rows[0]:
            raise UsageError(f"{path} has no column {step!r}: fix it or move it away.")

    def _read(self) -> Iterable[_Row]:
        return _csv_rows(self.path)

    def _can_append(self, rows: Sequence[_Row]) -> bool:
        return all(name in self._columns for row in rows for name in row)

    def _text(self, rows: Sequence[_Row], *, is_whole: bool = False) -> str:
        lines = io.StringIO(newline="")
        if is_whole:
            self._columns = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(lines, self._columns)
        if is_whole and rows:
            writer.writeheader()
        for row in rows:
            writer.writerow({name: "" if value != value else value for name, value in row.items()})  # NaN is empty
        return lines.getvalue()


class JsonLinesLog(_RowLog):
    """One JSON object per logging interval and line; a mean over no episodes is "NaN". As ``CsvLog`` otherwise."""

    def _read(self) -> Iterable[_Row]:
        for line in _complete_lines(self.path).splitlines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):  # a line that was cut off
                continue
            if isinstance(row, dict):
                yield row

    def _text(self, rows: Sequence[_Row], *, is_whole: bool = False) -> str:
        return "".join(json_text(row) + "\n" for row in rows)


class TensorBoardLog(Sink):
    """The metrics as scalars over the steps, in an event file of this session in ``folder``.

    Its first row hides what earlier sessions have after the step ``after``. TensorBoard's usual writers hand events to
    a thread that dies at the first error, and then wait for it for ever: so the records are written here.
    """

    def __init__(self, folder: Path, step: str = "update", after: int = 0) -> None:
        super().__init__(folder)
        self._file = AppendedFile(folder / f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}")
        self._step, self._after, self._has_begun = step, after, False

    def _write(self, rows: Sequence[Metrics]) -> None:
        from rlworldkit.runs import events  # here: what it imports takes seconds, which the first row need not wait for

        content = b"" if self._has_begun else events.beginning(self._after)
        content += b"".join(events.points(int(metrics[self._step]), metrics) for metrics in rows)
        self.path.mkdir(exist_ok=True)
        self._file.append(content)
        self._has_begun = True


def read_csv(path: Path) -> list[dict[str, float]]:
    """The rows that ``CsvLog`` wrote to ``path``, NaN for an empty cell; none where there is no file.

    Raises UsageError where the file cannot be read, or contains NaN or infinity.
    """
    with _refused(path):
        try:
            rows = [*_csv_rows(path)]
        except csv.Error as error:
            raise Unreadable(str(error)) from error
        return [{name: _number(cell) if cell else math.nan for name, cell in row.items()} for row in rows]


def _refused(path: Path) -> contextlib.AbstractContextManager[None]:
    return refused(path, "file of metrics", broken="fix it or move it away")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Unreadable(f"{quoted(text)} is no number") from None


def _csv_rows(path: Path) -> Iterator[dict[str, str]]:
    for row in csv.DictReader(io.StringIO(_complete_lines(path), newline="")):
        if None not in row and None not in row.values():  # as many cells as columns
            yield row


def _complete_lines(path: Path) -> str:
    """A metrics file but for a last line that was cut off; "" where there is none. Raises UsageError."""
    try:
        with _refused(path):
            text = read_text(path, LIMIT)
    except FileNotFoundError:
        return ""
    return text[: text.rfind("\n") + 1]
