"""Pieces of text with styles, of which a world's terminal screens are made."""

from collections.abc import Sequence

from rich.color import ColorSystem
from rich.style import Style
from rich.text import Text

Span = tuple[str, str]
"""A piece of text and its style in rich's syntax; "" is the terminal's own colour."""
Line = list[Span]

FAINT = "bright_black"
GOOD = "bold green"
BAD = "bold red"


def width(line: Line) -> int:
    """Return the number of columns that a line takes."""
    return sum(len(text) for text, _ in line)


def painted(line: Line, *, colour: bool) -> str:
    """Return the line as text, without blanks at its end; with ANSI codes if ``colour``."""
    styles = [(text, Style.parse(style if colour else "")) for text, style in line]
    return "".join(style.render(text, color_system=ColorSystem.STANDARD) for text, style in styles).rstrip()


def joined(lines: Sequence[Line], gap: int = 2) -> Line:
    """Join the lines that are not empty into one, with ``gap`` blanks between them."""
    parts = [line for line in lines if line]
    return [span for number, line in enumerate(parts) for span in ([(" " * gap, "")] * bool(number) + line)]


def as_text(lines: Sequence[Line]) -> Text:
    """Convert lines to rich's text."""
    return Text("\n", no_wrap=True, end="").join(Text.assemble(*line) for line in lines)
