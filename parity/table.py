"""Tables for terminals."""

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable


class Table(RichTable):
    """A table that folds in a narrow terminal what is too long for its column, where rich would cut it off."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render it as rich does."""
        for column in self.columns:
            column.overflow = "fold"
        yield from super().__rich_console__(console, options)
