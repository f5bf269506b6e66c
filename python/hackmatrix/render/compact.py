"""The board in little room: 13 lines of 56 columns, with the words and colours of the large one."""

from hackmatrix.render import spans
from hackmatrix.render.model import BoardModel, Cell
from hackmatrix.rules import SIZE
from worldkit.render.spans import FAINT, Line, Span, width

WIDTH = 56
"""Columns of every line."""
MORE = "…"
"""Stands at the right edge of a cell that has more words than fit."""

_CELL_WIDTH = 8
_EDGE = "│"


def compact_lines(model: BoardModel) -> list[Line]:
    """The board with row 5 on top, two lines for a row, and the numbers of the columns below: 13 lines of 56 columns.

    The upper line of a cell has who stands there, the lower one what stands and lies there. A word that finds no room
    in its own line goes into the other one; where words would not fit with blanks between them, they stand without.
    """
    lines: list[Line] = []
    for cells in model.rows:
        columns = [_cell_lines(cell) for cell in cells]
        lines.append([(f"{cells[0].row} ", FAINT), *(span for upper, _ in columns for span in upper)])
        lines.append([("  ", ""), *(span for _, lower in columns for span in lower)])
    numbers = "".join(f"{col:^{_CELL_WIDTH}} " for col in range(SIZE))
    return [*lines, [(f"  {numbers}", FAINT)]]


def _cell_lines(cell: Cell) -> tuple[Line, Line]:
    (first, *others), (second, *halves) = _or_nothing(spans.beings(cell)), _or_nothing(_halved(spans.fixtures(cell)))
    upper, lower = [first], [second]
    left = [word for word in (*others, *halves) if not _put(word, upper, lower)]
    left += [word for word in spans.ground(cell) if not _put(word, lower, upper)]
    edges = (MORE if left else _EDGE), _EDGE
    return _laid_out(upper, edges[0]), _laid_out(lower, edges[1])


def _or_nothing(words: Line) -> Line:
    return words or [("", "")]


def _halved(words: Line) -> Line:
    """A block's word that is too long for a line, as what it holds and what it spawns."""
    if width(words) <= _CELL_WIDTH:
        return words
    ((word, style),) = words
    at = word.index("]") + 1
    return [(word[:at], style), (word[at:], style)]


def _put(word: Span, *lines: Line) -> bool:
    """Put a word into the first of these lines that has room for it, with a blank before it if need be without."""
    for gap in (1, 0):
        for line in lines:
            if _width(line, gap) + gap + len(word[0]) <= _CELL_WIDTH:
                line.append(word)
                return True
    return False


def _width(line: Line, gap: int) -> int:
    return width(line) + gap * (len([text for text, _ in line if text]) - 1)


def _laid_out(line: Line, edge: str) -> Line:
    words = [span for span in line if span[0]]
    gap = " " if _width(words, 1) <= _CELL_WIDTH else ""
    spaced = [part for word in words for part in ((gap, ""), word)][1:]
    return [*spaced, (" " * (_CELL_WIDTH - width(spaced)), ""), (edge, FAINT)]
