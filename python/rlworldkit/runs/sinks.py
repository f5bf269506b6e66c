"""Sinks that write metrics to disk: ``metrics.csv``, ``metrics.jsonl`` and TensorBoard's event files.

The metric that a sink's ``step`` names, ``update`` or ``timesteps``, is the step of a row. A row that cannot be
written, for example because the disk is full, raises OSError, is kept, and is written before the next one.

A resumed run passes the step after which it continues. Rows of later steps from an earlier session stay until the run
writes its first row, since the run then repeats them.
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
"""Size of the largest file of metrics that is read, in bytes."""
Metrics = Mapping[str, float]


@dataclass(frozen=True)
class Milestone:
    """An integer metric that is shown of a run besides its return, such as the highest level reached.

    metric: its name among the metrics. name: its label in the progress display. title, unit: those of its plot.
    least, most: the range of its values.
    """

    metric: str
    name: str
    title: str
    unit: str
    least: int
    most: int


def seconds_left(first: Metrics, newest: Metrics, total: int) -> float:
    """Estimate the seconds until a run reaches ``total`` steps, from its first row and its newest one."""
    steps, seconds = (newest[name] - first[name] for name in ("timesteps", "seconds"))
    if not steps:  # the first row of a resumed run also counts the sessions before
        steps, seconds = newest["timesteps"], newest["seconds"]
    return (total - newest["timesteps"]) * seconds / steps


_Row = Mapping[str, Any]
"""Row of a file: cells of text, or values of JSON."""


class AppendedFile:
    """File that grows by whole pieces; it need not exist yet, and bytes beyond ``length`` are an incomplete piece."""

    def __init__(self, path: Path, length: int = 0) -> None:
        self._path, self._length = path, length

    def append(self, piece: bytes) -> None:
        """Append all of ``piece``. Raises OSError as writing does, and then the file keeps its length."""
        try:
            with self._path.open("ab") as file:
                file.truncate(min(self._length, file.tell()))
                file.write(piece)
        except OSError:
            with contextlib.suppress(OSError):  # else the next call truncates it
                os.truncate(self._path, min(self._length, self._path.stat().st_size))
            raise
        self._length = self._path.stat().st_size


class Sink(ABC):
    """Sink that writes the metrics of each logging interval to ``path``. It holds no file open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[Metrics] = []

    def write(self, metrics: Metrics) -> None:
        """Write the metrics of an interval, by name; if that fails, raises OSError and keeps them for ``flush``."""
        self._waiting.append(dict(metrics))
        self.flush()

    def flush(self) -> None:
        """Write the rows that could not be written yet; raises OSError as writing does."""
        if self._waiting:
            self._write(self._waiting)
            self._waiting = []

    @abstractmethod
    def _write(self, rows: Sequence[Metrics]) -> None:
        """Write the metrics of these intervals; if it raises OSError, none of them is written."""


class _RowLog(Sink):
    """Text file with a row per logging interval, of a run that resumes after the step ``after``.

    step: the column with the step of a row. Raises UsageError if the file exists and cannot be read as a log.
    """

    def __init__(self, path: Path, step: str = "update", after: int = 0) -> None:
        super().__init__(path)
        self._step, self._last = step, float(after)  # the last step whose row belongs to this run and is on the disk
        self._file: AppendedFile | None = None  # set once this run has written a row
        _complete_lines(path)

    def write_all(self, rows: Iterable[Metrics]) -> None:
        """Write rows at once; several may have the same step, if all rows of that step are passed together."""
        self._waiting += map(dict, rows)
        self.flush()

    def _write(self, rows: Sequence[Metrics]) -> None:
        if self._file and self._can_append(rows):
            self._file.append(self._text(rows).encode())
        else:
            self._rewrite(rows)
        self._last = self._step_of(rows[-1])

    def drop_later(self) -> None:
        """Drop rows of steps after the run's last one; raises OSError as writing does."""
        if self.path.exists():
            self._rewrite(())

    def _rewrite(self, rows: Sequence[Metrics]) -> None:
        """Rewrite the whole file with the run's rows so far, and these."""
        own = [row for row in self._read() if self._step_of(row) <= self._last]
        content = self._text([*own, *rows], is_whole=True).encode()
        self._file = None  # so that the next rows are not appended if this write fails
        write_whole(self.path, content)
        self._file = AppendedFile(self.path, len(content))

    def _step_of(self, row: _Row) -> float:
        """Step of a row; infinite for a damaged row, so that it is dropped."""
        try:
            return float(row[self._step])
        except (ValueError, KeyError, TypeError, OverflowError):
            return math.inf

    @abstractmethod
    def _read(self) -> Iterable[_Row]:
        """Read the complete rows of the file; none if there is no file."""

    @abstractmethod
    def _text(self, rows: Sequence[_Row], *, is_whole: bool = False) -> str:
        """Format the lines of these rows; ``is_whole``: with the header of the file."""

    def _can_append(self, rows: Sequence[_Row]) -> bool:
        return True


class CsvLog(_RowLog):
    """CSV file with one row per logging interval, written at once; a mean over no episodes is an empty cell.

    A metric that first appears in a later row gets a column, which is empty in the rows before.
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
    """JSON Lines file with one object per logging interval; a mean over no episodes is "NaN". Else like ``CsvLog``."""

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
    """TensorBoard event file of this session in ``folder``, with the metrics as scalars over the steps.

    Its first row hides the points of earlier sessions after the step ``after``. TensorBoard's own writers pass events
    to a thread that dies at the first error, and then wait for it forever; so this class writes the records itself.
    """

    def __init__(self, folder: Path, step: str = "update", after: int = 0) -> None:
        super().__init__(folder)
        self._file = AppendedFile(folder / f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}")
        self._step, self._after, self._has_begun = step, after, False

    def _write(self, rows: Sequence[Metrics]) -> None:
        from rlworldkit.runs import events  # imported here, since it takes seconds, and other sinks write first

        content = b"" if self._has_begun else events.beginning(self._after)
        content += b"".join(events.points(int(metrics[self._step]), metrics) for metrics in rows)
        self.path.mkdir(exist_ok=True)
        self._file.append(content)
        self._has_begun = True


def read_csv(path: Path) -> list[dict[str, float]]:
    """Read the rows that ``CsvLog`` wrote to ``path``, with NaN for an empty cell; empty if there is no file.

    Raises UsageError if the file cannot be read, or a cell is not a number.
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
    """Read a metrics file without an incomplete last line; "" if there is no file. Raises UsageError."""
    try:
        with _refused(path):
            text = read_text(path, LIMIT)
    except FileNotFoundError:
        return ""
    return text[: text.rfind("\n") + 1]
