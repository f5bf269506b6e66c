"""A board for a terminal: 26 lines of at most 100 columns, with or without ANSI colours."""

from collections.abc import Iterator

from hackmatrix.render import spans
from hackmatrix.render.legend import legend
from hackmatrix.render.model import BoardModel
from hackmatrix.rules import NUM_PROGRAMS, SIZE
from worldkit.render.spans import FAINT, Line, painted, width

_CELL_WIDTH = 10  # the longest word, [ANTI-V]+4
_GAP = "  "

LEGEND = legend(29)
"""What the words on a board mean, beside which 29 columns are left."""


def draw_text(model: BoardModel, *, colour: bool = True) -> str:
    """The board with row 5 on top, and beside it the status, the programs owned and a legend.

    A cell has three lines: who stands there (``@``, ``V2*``, ``>C1``; a cryptog that the player does not see
    is ``c2``, and its last known cell ``c?``), what stands there (``[7]+4``, ``[WARP]+5``, ``[?]``, ``ds``,
    ``EXIT``), and what lies there (``$2``, ``e3``, ``.`` siphoned, ``o`` a siphon's centre). As in O4, question
    blocks do not tell what they hold, nor unsiphoned blocks what lies under them.

    Args:
        model: the board.
        colour: whether to colour the words with ANSI codes; without, the text has no codes at all.

    Returns:
        26 lines, at most 100 columns wide, with no newline after the last.
    """
    board, panel = board_lines(model), _panel(model)
    panel += [[] for _ in range(len(board) - len(panel))]
    lines = ([*left, (_GAP, ""), *right] if right else left for left, right in zip(board, panel, strict=True))
    return "\n".join(painted(line, colour=colour) for line in lines)


def board_lines(model: BoardModel) -> list[Line]:
    """The board alone: 26 lines of 69 columns, without what stands beside it in ``draw_text``."""
    return list(_board(model))


def _board(model: BoardModel) -> Iterator[Line]:
    yield _border("┌┬┐")
    for row, cells in zip(reversed(range(SIZE)), model.rows, strict=True):
        columns = [(spans.beings(cell), spans.fixtures(cell), spans.ground(cell)) for cell in cells]
        for number in range(3):
            line: Line = [(f"{row} " if number == 1 else "  ", FAINT)]
            for lines in columns:
                line += [("│", FAINT), *_centred(lines[number])]
            yield [*line, ("│", FAINT)]
        yield _border("├┼┤" if row else "└┴┘")
    yield [("   ", ""), *((f"{col:^{_CELL_WIDTH + 1}}", FAINT) for col in range(SIZE))]


def _border(corners: str) -> Line:
    return [("  " + corners[0] + corners[1].join(["─" * _CELL_WIDTH] * SIZE) + corners[2], FAINT)]


def _centred(words: Line) -> Line:
    spaced = [part for word in words for part in ((" ", ""), word)][1:]
    missing = _CELL_WIDTH - width(spaced)
    return [(" " * (missing // 2), ""), *spaced, (" " * (missing - missing // 2), "")]


def _panel(model: BoardModel) -> list[Line]:
    numbers = spans.numbers(model)
    return [
        *(numbers[name] for name in ("stage", "hp", "attack", "held")),
        [*numbers["siphons"], (_GAP, ""), *numbers["score"]],
        numbers["spawn"],
        numbers["flags"],
        [],
        [(f"{len(model.owned_programs)} programs" if model.owned_programs else "no programs", "bold")],
        *_program_lines(model.owned_programs),
        *[[(line, FAINT)] for line in LEGEND],
    ]


def _program_lines(programs: tuple[str, ...]) -> Iterator[Line]:
    """As many lines whatever is owned, so that the legend keeps its place, and an empty one."""
    for first in range(0, NUM_PROGRAMS, 4):
        yield [("".join(f"{name:<7}" for name in programs[first : first + 4]), "green")]
    yield []
