"""Text of a board for a terminal, as lines of coloured words: large, in 26 lines, or compact, in 13."""

from hackmatrix.cells import Cell, content_of, is_dead, is_won, owned_programs, rows_of
from hackmatrix.render import words
from hackmatrix.rules import MAX_ATTACK, MAX_HP, NUM_PROGRAMS, NUM_STAGES, SIZE
from rlparity import State
from rlworldkit.render.spans import BAD, FAINT, GOOD, Line, Span, joined, painted, width

LEGEND = words.legend(29)
"""The legend, in the 29 columns that are left beside a board."""
MORE = "…"
"""Mark at the right edge of a compact cell that has more words than fit."""

_CELL_WIDTH = 10  # the longest word, [ANTI-V]+4
_COMPACT_CELL_WIDTH = 8
_GAP = "  "
_EDGE = ("│", FAINT)
_CREDITS = "yellow"
_ENERGY = "cyan"
_ENEMY_STYLES = {"virus": "bold red", "daemon": "bold yellow", "glitch": "bold magenta", "cryptog": "bold blue"}


def beings(cell: Cell) -> Line:
    """The beings in a cell: the player, an enemy, a transmission, or a cryptog when the player saw it last."""
    spans: Line = []
    if cell.player:
        spans.append((words.PLAYER, "bold bright_white"))
    if enemy := cell.enemy:
        word = words.enemy_word(enemy)
        spans.append((word.lower(), FAINT) if cell.enemy_hidden else (word, _ENEMY_STYLES[enemy["type"]]))
    if coming := cell.transmission:
        spans.append((words.transmission_word(coming), _ENEMY_STYLES[coming["enemyType"]].removeprefix("bold ")))
    if cell.last_known:
        spans.append((words.LAST_KNOWN, FAINT))
    return spans


def fixtures(cell: Cell) -> Line:
    """The fixture of a cell: a block, a data siphon or the exit. A question block hides its content (O4)."""
    if block := cell.block:
        if block["type"] == "question":
            return [(f"[{words.HIDDEN_CONTENT}]", "yellow")]
        style = FAINT if cell.siphoned else "green" if block["type"] == "program" else "bright_blue"
        return [(f"[{content_of(block)}]+{block['spawnCount']}", style)]
    if cell.resource["dataSiphon"]:
        return [(words.PICKUP, "bold bright_cyan")]
    return [(words.EXIT, GOOD)] if cell.exit else []


def ground(cell: Cell) -> Line:
    """Amounts in a cell, as far as the player sees them (O4), and whether it is siphoned."""
    spans: Line = []
    if cell.amounts_shown:
        spans += [(word, _CREDITS if word.startswith("$") else _ENERGY) for word in words.amount_words(cell)]
    if cell.siphoned:
        spans.append((words.SIPHONED, FAINT))
    if cell.siphon_center:
        spans.append((words.SIPHON_CENTER, FAINT))
    return spans


def numbers(state: State) -> dict[str, Line]:
    """The numbers beside the cells, by name, in the order of the large board."""
    player = state["player"]
    there = ("game won", GOOD) if is_won(state) else (f"stage {state['stage']} of {NUM_STAGES}", "bold")
    dead: Line = [(" dead", BAD)] if is_dead(state) else []
    spawn = "none (CALM)" if state["scheduledTasksDisabled"] else f"turn {state['nextScheduledTaskTurn']}"
    flags = {"SHOW": "showActivated", "CALM": "scheduledTasksDisabled", "STEP": "stepActive"}
    return {
        "stage": [there, (f", turn {state['turn']}", "")],
        "hp": [("hp ", ""), ("♥" * player["hp"] + "♡" * (MAX_HP - player["hp"]), BAD), *dead],
        "attack": [(f"attack {player['attackDamage']} of {MAX_ATTACK}", "")],
        "held": [(f"credits {player['credits']}", _CREDITS), ("  ", ""), (f"energy {player['energy']}", _ENERGY)],
        "siphons": [(f"data siphons {player['dataSiphons']}", "bright_cyan")],
        "score": [(f"score {player['score']}", "")],
        "spawn": [(f"next spawn: {spawn}", "")],
        "flags": [
            (f"{name} {'on' if state[word] else 'off':<4}", GOOD if state[word] else FAINT)
            for name, word in flags.items()
        ],
    }


def draw_text(state: State, *, colour: bool = True) -> str:
    """The board with row 5 on top, and beside it the status, the programs owned and a legend.

    A cell has three lines: the beings (``@``, ``V2*``, ``>C1``; a cryptog that the player does not see
    is ``c2``, and its last known cell ``c?``), the fixture (``[7]+4``, ``[WARP]+5``, ``[?]``, ``ds``,
    ``EXIT``), and the ground (``$2``, ``e3``, ``.`` siphoned, ``o`` a siphon's centre). As in O4, question
    blocks hide their content, and unsiphoned blocks hide the amounts under them.

    Returns 26 lines, at most 100 columns wide, with no newline after the last, and no ANSI codes without ``colour``.
    """
    board, panel = board_lines(state), _panel(state)
    panel += [[] for _ in range(len(board) - len(panel))]
    lines = ([*left, (_GAP, ""), *right] if right else left for left, right in zip(board, panel, strict=True))
    return "\n".join(painted(line, colour=colour) for line in lines)


def board_lines(state: State) -> list[Line]:
    """The board alone: 26 lines of 69 columns, without the panel beside it in ``draw_text``."""
    lines = [_border("┌┬┐")]
    for cells in rows_of(state):
        row = cells[0].row
        for number, part in enumerate((beings, fixtures, ground)):
            spans = [span for cell in cells for span in (_EDGE, *_centred(part(cell)))]
            lines.append([(f"{row} " if number == 1 else "  ", FAINT), *spans, _EDGE])
        lines.append(_border("├┼┤" if row else "└┴┘"))
    return [*lines, [("   ", ""), *((f"{col:^{_CELL_WIDTH + 1}}", FAINT) for col in range(SIZE))]]


def _border(corners: str) -> Line:
    return [("  " + corners[0] + corners[1].join(["─" * _CELL_WIDTH] * SIZE) + corners[2], FAINT)]


def _centred(spans: Line) -> Line:
    spaced = joined([[span] for span in spans], 1)
    missing = _CELL_WIDTH - width(spaced)
    return [(" " * (missing // 2), ""), *spaced, (" " * (missing - missing // 2), "")]


def _panel(state: State) -> list[Line]:
    stage, hp, attack, held, siphons, score, spawn, flags = numbers(state).values()
    owned = owned_programs(state)
    title = [(f"{len(owned)} programs" if owned else "no programs", "bold")]
    # always the same number of lines, so that the legend keeps its place
    programs = [
        [("".join(f"{name:<7}" for name in owned[first : first + 4]), "green")] for first in range(0, NUM_PROGRAMS, 4)
    ]
    legend = [[(line, FAINT)] for line in LEGEND]
    return [stage, hp, attack, held, [*siphons, (_GAP, ""), *score], spawn, flags, [], title, *programs, [], *legend]


def compact_lines(state: State) -> list[Line]:
    """The board with row 5 on top, two lines for a row, and the numbers of the columns below: 13 lines of 56 columns.

    The upper line of a cell has the beings, the lower one the fixture and the items. A word that does not fit in its
    own line goes into the other one; where words do not fit with blanks between them, the blanks are left out.
    """
    lines: list[Line] = []
    for cells in rows_of(state):
        columns = [_cell_lines(cell) for cell in cells]
        lines.append([(f"{cells[0].row} ", FAINT), *(span for upper, _ in columns for span in upper)])
        lines.append([("  ", ""), *(span for _, lower in columns for span in lower)])
    columns_line = "".join(f"{col:^{_COMPACT_CELL_WIDTH}} " for col in range(SIZE))
    return [*lines, [(f"  {columns_line}", FAINT)]]


def _cell_lines(cell: Cell) -> tuple[Line, Line]:
    above, below = beings(cell), _halved(fixtures(cell))
    upper, lower = above[:1] or [("", "")], below[:1] or [("", "")]
    left = [span for span in (*above[1:], *below[1:]) if not _put(span, upper, lower)]
    left += [span for span in ground(cell) if not _put(span, lower, upper)]
    return [*_filled(upper), (MORE, FAINT) if left else _EDGE], [*_filled(lower), _EDGE]


def _halved(spans: Line) -> Line:
    """Split a block's word that is too long for a line into its content and its spawn count."""
    if width(spans) <= _COMPACT_CELL_WIDTH:
        return spans
    ((word, style),) = spans
    at = word.index("]") + 1
    return [(word[:at], style), (word[at:], style)]


def _put(span: Span, *lines: Line) -> bool:
    """Put a word into the first line with room for it, after a blank if that fits; return whether there was room."""
    for gap in (1, 0):
        for line in lines:
            if _width(line, gap) + gap + len(span[0]) <= _COMPACT_CELL_WIDTH:
                line.append(span)
                return True
    return False


def _width(line: Line, gap: int) -> int:
    return width(line) + gap * (len([text for text, _ in line if text]) - 1)


def _filled(line: Line) -> Line:
    spaced = joined([[span] for span in line if span[0]], int(_width(line, 1) <= _COMPACT_CELL_WIDTH))
    return [*spaced, (" " * (_COMPACT_CELL_WIDTH - width(spaced)), "")]
