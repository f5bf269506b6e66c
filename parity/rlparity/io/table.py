"""Console that prints text literally, and tables for terminals, Markdown and programs."""

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
    """Console that prints control characters as escapes, and interprets no markup and no names of emoji."""

    def __init__(self, **options: object) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)  # type: ignore[arg-type]

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, with control characters escaped; rich adds its own sequences for colours later."""
        for segment in super().render(renderable, options):
            text = segment.text
            if text.isprintable() or segment.control:
                yield segment
            else:
                yield segment._replace(text="\n".join(map(printable, text.split("\n"))))


class Table(RichTable):
    """Table that wraps cells that are too long for a narrow terminal, where rich would truncate them.

    In a file or a pipe, its lines have no trailing blanks: one long cell would make every line as long.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render the table as rich does, but for folded cells and trailing blanks."""
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

    name: for programs. title, note: above and below the table. most: number of rows that are shown, None for all; rest:
    words on how to see the others.
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
        """Text below the table: the number of hidden rows, and the note."""
        more = len(self.rows[self.most :]) if self.most is not None else 0
        return " ".join(filter(None, [f"... and {more:,} more ({self.rest})." if more else "", self.note]))

    def values(self) -> list[dict[str, object]]:
        """Every row as a JSON object."""
        return [dict(zip(self.header, row, strict=True)) for row in self.rows]

    def print(self, console: Console) -> None:
        """Print the table and its footer."""
        table = Table(*self.header, title=Text(self.title), title_justify="left")
        for row in self.texts():
            table.add_row(*map(Text, row))
        console.print(table)
        if footer := self.footer():
            console.print(footer, soft_wrap=True)

    def markdown(self) -> str:
        """Format as a Markdown table with its footer."""
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
    """Escape a text so that Markdown shows it literally."""
    marked = "".join(f"\\{sign}" if sign in "\\`*_|[]~" else sign for sign in text.replace("\n", " "))
    return printable(html.escape(marked, quote=False))
