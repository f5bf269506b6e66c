"""Record of a benchmark's result, as JSON and as a row of a table."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rlparity.io.strict_json import json_text

MEBIBYTE = 2**20
_NAME_WIDTH = len("env_compact_steps_per_second_devices_8")
_WIDTHS = {"games": 6, "median": 17, "spread": 6, "trace": 6, "compile": 7, "peak": 9}
"""Column widths of the longest expected values, since the rows to come are not known yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One measured figure, such as ``env_steps_per_second``: the median over the repetitions.

    unit: ``steps/s``, ``s``, or empty for a share. spread: (largest − smallest) / median, without a unit.
    compile_seconds: time of XLA. trace_seconds: time of tracing and lowering in Python. Both are None if they are part
    of the value. peak_bytes: memory, as the benchmark's docstring defines it.
    """

    name: str
    value: float
    unit: str
    num_envs: int
    spread: float
    compile_seconds: float | None = None
    trace_seconds: float | None = None
    peak_bytes: int | None = None


def plain_record(name: str, num_envs: int, samples: Sequence[float], unit: str = "steps/s") -> Record:
    """Make a record of the median of positive samples, at least one, with their range as a share of the median."""
    median = statistics.median(samples)
    return Record(name=name, value=median, unit=unit, num_envs=num_envs, spread=(max(samples) - min(samples)) / median)


def as_json(records: Sequence[Record]) -> str:
    """Format records as a JSON list with one object per record, keys as in ``Record``, ending in a newline."""
    return json_text([asdict(record) for record in records], indent=2) + "\n"


def as_row(record: Record, *, with_heading: bool = False) -> str:
    """Format a record as one line for the terminal; lines that are printed one after the other form a table."""
    digits = ",.0f" if record.value >= 1000 else ".1f"
    value = f"{record.value:{digits}} {record.unit}" if record.unit else f"{record.value:.1%}"
    cells = (
        record.name,
        f"{record.num_envs:,}",
        value,
        f"{record.spread:.1%}",
        _seconds(record.trace_seconds),
        _seconds(record.compile_seconds),
        "–" if record.peak_bytes is None else f"{record.peak_bytes / MEBIBYTE:,.0f} MiB",
    )
    return "\n".join(map(_line, [("measured", *_WIDTHS), cells] if with_heading else [cells]))


def _line(cells: Sequence[str]) -> str:
    name, *figures = cells
    return " ".join((f"{name:{_NAME_WIDTH}}", *map(str.rjust, figures, _WIDTHS.values())))


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"
