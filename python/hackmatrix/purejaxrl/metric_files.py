"""Metrics on the disk: ``metrics.csv``, ``metrics.jsonl`` and TensorBoard's event files."""

import csv
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tensorboardX import SummaryWriter

Metrics = Mapping[str, float]


class _Closing(ABC):
    """A context that closes what it opened."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class CsvLog(_Closing):
    """One row per logging interval, flushed at once; a mean over no episodes is an empty cell.

    The columns are the keys of the first row. Of a file that is there already, the rows up to ``after_update``
    stay: a resumed run writes the others again. Use it as a context.
    """

    def __init__(self, path: Path, after_update: int = 0) -> None:
        kept = [row for row in read_csv(path) if row["update"] <= after_update]
        self._file = path.open("w", newline="", encoding="utf-8")
        self._writer: csv.DictWriter[str] | None = None
        for row in kept:
            self.write(row)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, metrics: Metrics) -> None:
        """Append a row."""
        if self._writer is None:
            self._writer = csv.DictWriter(self._file, fieldnames=list(metrics))
            self._writer.writeheader()
        self._writer.writerow({name: "" if math.isnan(value) else value for name, value in metrics.items()})
        self._file.flush()


class JsonLinesLog(_Closing):
    """One JSON object per logging interval and line; a mean over no episodes is null. As ``CsvLog`` otherwise."""

    def __init__(self, path: Path, after_update: int = 0) -> None:
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        kept = [line for line in lines if _update_of(line) <= after_update]
        self._file: IO[str] = path.open("w", encoding="utf-8")
        self._file.writelines(f"{line}\n" for line in kept)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def write(self, metrics: Metrics) -> None:
        """Append a line."""
        row = {name: None if math.isnan(value) else value for name, value in metrics.items()}
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()


class TensorBoardLog(_Closing):
    """The metrics as scalars over the updates in ``folder``; a resumed run adds a file. Use it as a context."""

    def __init__(self, folder: Path, after_update: int = 0) -> None:
        self._writer = SummaryWriter(str(folder), purge_step=after_update + 1 if after_update else None)

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def write(self, metrics: Metrics) -> None:
        """Add a point to every curve."""
        for name, value in metrics.items():
            if not math.isnan(value):
                self._writer.add_scalar(name, value, int(metrics["update"]))
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


def _update_of(line: str) -> float:
    try:
        return float(json.loads(line)["update"])
    except (ValueError, KeyError, TypeError):  # a line that was cut off
        return math.inf
