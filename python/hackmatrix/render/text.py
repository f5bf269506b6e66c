"""A board for a terminal: 26 lines of at most 100 columns, with or without ANSI colours."""

from collections.abc import Iterator

from rich.color import ColorSystem
from rich.style import Style

from hackmatrix.render import words
from hackmatrix.render.model import BoardModel, Cell
from hackmatrix.rules import MAX_ATTACK, MAX_HP, NUM_PROGRAMS, NUM_STAGES, SIZE

Span = tuple[str, str]
"""A piece of text and its style in rich's words; "" is the terminal's own colour."""
Line = list[Span]

_CELL_WIDTH = 10  # the longest word, [ANTI-V]+4
_PANEL_WIDTH = 29
_GAP = "  "
_ENEMY_STYLES = {"virus": "bold red", "daemon": "bold yellow", "glitch": "bold magenta", "cryptog": "bold blue"}
_FAINT = "bright_black"
_CREDITS = "yellow"
_ENERGY = "cyan"
_GOOD = "bold green"
_BAD = "bold red"

_LEGEND = (
    "@ player   V2 virus with 2 hp",
    "D daemon  G glitch  C cryptog",
    "c2 hidden  c? last known cell",
    "* stunned ~3 disabled 3 turns",
    ">D1 daemon comes in 1 turn",
    "[7]+4 7 points, spawns 4",
    "[WARP] program  [?] question",
    "$2 credits  e3 energy",
    "ds data siphon to pick up",
    ". siphoned  o siphon's centre",
)


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
    board, panel = list(_board(model)), _panel(model)
    panel += [[] for _ in range(len(board) - len(panel))]
    lines = ([*left, (_GAP, ""), *right] if right else left for left, right in zip(board, panel, strict=True))
    return "\n".join("".join(_paint(*span) if colour else span[0] for span in line).rstrip() for line in lines)


def _paint(text: str, style: str) -> str:
    return Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style else text


def _board(model: BoardModel) -> Iterator[Line]:
    yield _border("┌┬┐")
    for row, cells in zip(reversed(range(SIZE)), model.rows, strict=True):
        columns = [(_beings(cell), _fixtures(cell), _ground(cell)) for cell in cells]
        for number in range(3):
            line: Line = [(f"{row} " if number == 1 else "  ", _FAINT)]
            for lines in columns:
                line += [("│", _FAINT), *_centred(lines[number])]
            yield [*line, ("│", _FAINT)]
        yield _border("├┼┤" if row else "└┴┘")
    yield [("   ", ""), *((f"{col:^{_CELL_WIDTH + 1}}", _FAINT) for col in range(SIZE))]


def _border(corners: str) -> Line:
    return [("  " + corners[0] + corners[1].join(["─" * _CELL_WIDTH] * SIZE) + corners[2], _FAINT)]


def _centred(spans: list[Span]) -> Line:
    spaced = [part for span in spans for part in ((" ", ""), span)][1:]
    missing = _CELL_WIDTH - _width(spaced)
    return [(" " * (missing // 2), ""), *spaced, (" " * (missing - missing // 2), "")]


def _width(line: Line) -> int:
    return sum(len(text) for text, _ in line)


def _beings(cell: Cell) -> Line:
    spans: Line = []
    if cell.player:
        spans.append((words.PLAYER, "bold bright_white"))
    if enemy := cell.enemy:
        word = words.enemy_word(enemy)
        spans.append((word.lower(), _FAINT) if enemy.hidden else (word, _ENEMY_STYLES[enemy.type]))
    if coming := cell.transmission:
        spans.append((words.transmission_word(coming), _ENEMY_STYLES[coming.type].removeprefix("bold ")))
    if cell.last_known:
        spans.append((words.LAST_KNOWN, _FAINT))
    return spans


def _fixtures(cell: Cell) -> Line:
    if block := cell.block:
        if block.type == "question":
            return [(f"[{words.HIDDEN_CONTENT}]", "yellow")]
        style = _FAINT if cell.siphoned else "green" if block.type == "program" else "bright_blue"
        return [(words.block_word(block.content, block.spawn_count), style)]
    if cell.pickup:
        return [(words.PICKUP, "bold bright_cyan")]
    return [(words.EXIT, _GOOD)] if cell.exit else []


def _ground(cell: Cell) -> Line:
    spans: Line = []
    if cell.amounts_shown:
        spans += [(word, _CREDITS if word.startswith("$") else _ENERGY) for word in words.amount_words(cell)]
    if cell.siphoned:
        spans.append((words.SIPHONED, _FAINT))
    if cell.siphon_center:
        spans.append((words.SIPHON_CENTER, _FAINT))
    return spans


def _panel(model: BoardModel) -> list[Line]:
    stage = ("game won", _GOOD) if model.won else (f"stage {model.stage} of {NUM_STAGES}", "bold")
    end: Line = [(" dead", _BAD)] if model.dead else []
    spawn = "none (CALM)" if model.scheduled_tasks_disabled else f"turn {model.next_scheduled_task_turn}"
    flags = (("SHOW", model.show_activated), ("CALM", model.scheduled_tasks_disabled), ("STEP", model.step_active))
    return [
        [stage, (f", turn {model.turn}", "")],
        [("hp ", ""), ("♥" * model.hp + "♡" * (MAX_HP - model.hp), _BAD), *end],
        [(f"attack {model.attack_damage} of {MAX_ATTACK}", "")],
        [(f"credits {model.credits}", _CREDITS), (_GAP, ""), (f"energy {model.energy}", _ENERGY)],
        [(f"data siphons {model.data_siphons}", "bright_cyan"), (_GAP, ""), (f"score {model.score}", "")],
        [(f"next spawn: {spawn}", "")],
        [(f"{name} {'on' if on else 'off':<4}", _GOOD if on else _FAINT) for name, on in flags],
        [],
        [(f"{len(model.owned_programs)} programs" if model.owned_programs else "no programs", "bold")],
        *_program_lines(model.owned_programs),
        *[[(line, _FAINT)] for line in _LEGEND],
    ]


def _program_lines(programs: tuple[str, ...]) -> Iterator[Line]:
    """As many lines whatever is owned, so that the legend keeps its place, and an empty one."""
    for first in range(0, NUM_PROGRAMS, 4):
        yield [("".join(f"{name:<7}" for name in programs[first : first + 4]), "green")]
    yield []
