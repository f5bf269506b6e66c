"""A console in which texts stay texts: nothing that they hold acts on the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rlparity.errors import printable


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
