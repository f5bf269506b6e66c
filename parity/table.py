"""Tables for terminals, for Markdown and for programs."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from parity.engine import Array

SHOWN_ROWS = 20
Z = 1.959964
"""Standard deviations that hold 95% of a normal distribution."""


class Table(RichTable):
    """A table that folds in a narrow terminal what is too long for its column, where rich would cut it off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it as rich does."""
        for column in self.columns:
            column.overflow = "fold"
        yield from super().__rich_console__(console, options)


@dataclass(frozen=True)
class Records:
    """Rows of JSON values, of which people are shown the first; a list of three is a mean and its interval.

    name: for programs. title, note: over and under the table.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    note: str = ""

    def texts(self) -> list[list[str]]:
        """The cells of the rows that are shown."""
        return [list(map(_text, row)) for row in self.rows[:SHOWN_ROWS]]

    def footer(self) -> str:
        """What stands under the table, if anything."""
        more = len(self.rows) - SHOWN_ROWS
        return " ".join(filter(None, [f"... and {more:,} more (--json lists all)." if more > 0 else "", self.note]))

    def values(self) -> list[dict[str, object]]:
        """Every row as a JSON object."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]

    def print(self, console: Console) -> None:
        """Print it in a terminal."""
        table = Table(*self.header, title=Text(self.title), title_justify="left")
        for row in self.texts():
            table.add_row(*map(Text, row))
        console.print(table)
        if footer := self.footer():
            console.print(footer, soft_wrap=True)

    def markdown(self) -> str:
        """A table of Markdown, and what stands under it."""
        rows = self.header, ["---"] * len(self.header), *self.texts()
        table = "\n".join(f"| {' | '.join(map(markdown_text, row))} |" for row in rows)
        return f"{table}\n\n{markdown_text(self.footer())}".strip()


def _text(value: object) -> str:
    if isinstance(value, list):
        mean, low, high = map(_text, value)
        return f"{mean} [{low}, {high}]"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.5g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def mean_interval(values: Array) -> list[float]:
    """The mean of values (n,) and its 95% normal interval, which is infinitely wide for a single value."""
    mean = float(np.mean(values))
    margin = Z * float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else float("inf")
    return [mean, mean - margin, mean + margin]


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is."""
    marked = "".join(f"\\{sign}" if sign in "\\`*_|[]~" else sign for sign in text)
    return html.escape(marked, quote=False).replace("\n", " ")
