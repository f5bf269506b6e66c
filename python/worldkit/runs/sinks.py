"""Metrics on the disk: ``metrics.csv``, ``metrics.jsonl`` and TensorBoard's event files.

Every row names its step in the column ``step`` of the sink: ``update`` or ``timesteps``. A resumed run hands in the
step it resumes after: rows up to that one stay, later ones are dropped, because they come again.
"""

import csv
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self

from tensorboardX import SummaryWriter

from worldkit.runs.files import replacing

Metrics = Mapping[str, float]


class Sink(Protocol):
    """Something that takes the metrics of each logging interval."""

    def write(self, metrics: Metrics) -> None:
        """Take the metrics of one interval by their names."""


class _Closing(ABC):
    """A context that closes what it opened."""

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def write(self, metrics: Metrics) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class CsvLog(_Closing):
    """One row per logging interval, flushed at once; a mean over no episodes is an empty cell.

    A metric that comes up later gets a column, empty in the rows before. Use it as a context.
    """

    def __init__(self, path: Path, step: str = "update", after: int = 0) -> None:
        self._path = path
        self._columns: list[str] = []
        kept = [row for row in read_csv(path) if row[step] <= after]
        for row in kept:
            self._columns += [name for name in row if name not in self._columns]
        self._file = self._begin(kept)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, metrics: Metrics) -> None:
        """Append a row."""
        new = [name for name in metrics if name not in self._columns]
        if new:
            self._file.close()
            self._columns += new
            self._file = self._begin(read_csv(self._path))
        csv.DictWriter(self._file, self._columns).writerow(_cells(metrics))
        self._file.flush()

    def _begin(self, rows: Iterable[Metrics]) -> IO[str]:
        """Write the file as it stands, whole or not at all, and open it for the rows that follow."""
        with replacing(self._path) as binary:
            lines = _Lines()
            if self._columns:
                writer = csv.DictWriter(lines, self._columns)
                writer.writeheader()
                writer.writerows(map(_cells, rows))
            binary.write("".join(lines).encode())
        return self._path.open("a", newline="", encoding="utf-8")


class _Lines(list[str]):
    """What csv needs of a file."""

    def write(self, line: str) -> None:
        self.append(line)


def _cells(metrics: Metrics) -> dict[str, float | str]:
    return {name: "" if math.isnan(value) else value for name, value in metrics.items()}


class JsonLinesLog(_Closing):
    """One JSON object per logging interval and line; a mean over no episodes is null. As ``CsvLog`` otherwise."""

    def __init__(self, path: Path, step: str = "update", after: int = 0) -> None:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if _step_of(line, step) <= after]
        with replacing(path) as binary:
            binary.write("".join(f"{line}\n" for line in kept).encode())
        self._file: IO[str] = path.open("a", encoding="utf-8")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, metrics: Metrics) -> None:
        """Append a line."""
        row = {name: None if math.isnan(value) else value for name, value in metrics.items()}
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()


class TensorBoardLog(_Closing):
    """The metrics as scalars over the steps in ``folder``; a resumed run adds a file. Use it as a context."""

    def __init__(self, folder: Path, step: str = "update", after: int = 0) -> None:
        self._step = step
        self._writer = SummaryWriter(str(folder), purge_step=after + 1 if after else None)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def write(self, metrics: Metrics) -> None:
        """Add a point to every curve."""
        for name, value in metrics.items():
            if not math.isnan(value):
                self._writer.add_scalar(name, value, int(metrics[self._step]))
        self._writer.flush()


def read_csv(path: Path) -> list[dict[str, float]]:
    """The rows that ``CsvLog`` wrote to ``path``, NaN for an empty cell; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            {name: float(value) if value else math.nan for name, value in row.items()}
            for row in csv.DictReader(file)
            if None not in row.values()  # a row that was cut off
        ]


def _step_of(line: str, step: str) -> float:
    try:
        return float(json.loads(line)[step])
    except (ValueError, KeyError, TypeError):  # a line that was cut off
        return math.inf
