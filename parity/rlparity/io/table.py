"""Consoles in which texts stay texts, and tables for terminals, for Markdown and for programs."""

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text

from rlparity.errors import printable

SHOWN_ROWS = 20


class PlainConsole(Console):
    """Prints control characters as their codes, and takes nothing in a text for markup or the name of an emoji."""

    def __init__(self, **options: object) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)  # type: ignore[arg-type]

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does; the sequences that it writes itself for colours and the cursor come later."""
        for segment in super().render(renderable, options):
            text = segment.text
            if text.isprintable() or segment.control:
                yield segment
            else:
                yield segment._replace(text="\n".join(map(printable, text.split("\n"))))


class Table(RichTable):
    """A table that folds in a narrow terminal what is too long for its column, where rich would cut it off.

    In a file or a pipe no blanks end its lines: one long cell would make all of them as long.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it as rich does."""
        for column in self.columns:
            column.overflow = "fold"
        rendered = super().__rich_console__(console, options)
        if console.is_terminal:
            yield from rendered
            return
        for line in Segment.split_lines(part for part in rendered if isinstance(part, Segment)):
            yield Segment("".join(part.text for part in line).rstrip(" ") + "\n")


@dataclass(frozen=True)
class Records:
    """Rows of JSON values, of which people are shown the first; a list of three is a mean and its interval.

    name: for programs. title, note: over and under the table. most: how many rows are shown, None for all; rest: what
    shows the others.
    """

    name: str
    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    note: str = ""
    most: int | None = SHOWN_ROWS
    rest: str = "--json lists all"

    def texts(self) -> list[list[str]]:
        """The cells of the rows that are shown."""
        return [list(map(_text, row)) for row in self.rows[: self.most]]

    def footer(self) -> str:
        """What stands under the table, if anything."""
        more = len(self.rows[self.most :]) if self.most is not None else 0
        return " ".join(filter(None, [f"... and {more:,} more ({self.rest})." if more else "", self.note]))

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
    if isinstance(value, float):
        return f"{value:.5g}" if math.isfinite(value) else "–"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is."""
    marked = "".join(f"\\{sign}" if sign in "\\`*_|[]~" else sign for sign in text.replace("\n", " "))
    return printable(html.escape(marked, quote=False))
