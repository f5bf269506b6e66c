"""Text of each part of the debugger's screen."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.table import Table as Grid
from rich.text import Text

from parity.compare import OBSERVATION, differing_cells, value_text
from parity.debug.debugger import COMMANDS, Debugger
from parity.debug.session import Session
from parity.engine import State
from parity.errors import EngineError, UsageError
from parity.phases import Draw
from parity.report import DIFFERS, action_name
from parity.rule_book import rule_text
from parity.source_lines import source_lines
from parity.step_phases import PhaseRow
from parity.world import Board

PANELS = ("differences", "reward", "marks", "actions", "observation", "state", "forks", "phases", "rules", "help")
"""Panels by their keys 1 to 9; ``?`` opens the last."""
BESIDE = 44
"""The least columns of a panel beside the boards."""
_MOST = 2000


def title(debugger: Debugger, width: int, phase: int | None = None) -> Text:
    """Where one stands, in one line; phase: the number of one within the step."""
    session = debugger.session
    fork, action = session.current, session.next_action
    following = "" if action is None else f", next {action_name(session.world, action)}"
    over = ", over" if session.is_over else ""
    over = over if phase is None else f", after {phase_rows(session)[phase][0]}"
    text = f"{session.world.name}, fork {fork.number} of {len(session.forks)}, step {session.position}{over}{following}"
    said, style = ("differ", DIFFERS) if session.diff() else ("agree", "bold green")
    pair = " and ".join(dict.fromkeys(session.engines))
    pair += f" {said}" if len(set(session.engines)) > 1 else ""
    return Text.assemble((text[: width - len(pair) - 1].ljust(width - len(pair)), "bold"), (pair, style), no_wrap=True)


def message(debugger: Debugger) -> Text:
    """What the last command did."""
    return Text(debugger.message, "bold red" if debugger.is_refusal else "")


def phase_rows(session: Session) -> list[PhaseRow]:
    """The phases of the step, as far as an engine tells them."""
    try:
        return [*session.phases.rows()]
    except EngineError:  # which the panel of the phases shows
        return []


def boards(session: Session, engines: tuple[str, ...], phase: int | None = None) -> Text:
    """The boards of some engines side by side, after the step or one of its phases, what differs marked."""
    both = _board(session, 0, phase), _board(session, 1, phase)
    cells = differing_cells(both) if session.engines[0] != session.engines[1] else set()
    shown = [_board_lines(name, both[session.engines.index(name)], cells) for name in engines]
    width = max(len(line) for lines in shown for line in lines) + 2
    lines = []
    for parts in zip(*shown, strict=True):
        line = Text(no_wrap=True, end="")
        for part in parts:
            line.append_text(part)
            line.append(" " * (width - len(part)))
        line.rstrip()
        lines.append(line)
    return Text("\n", no_wrap=True, end="").join(lines)


def board_size(session: Session) -> tuple[int, int]:
    """Columns and lines of one board."""
    lines = _board_lines(session.engines[0], _board(session, 0), set())
    return max(map(len, lines)) + 2, len(lines)


def _board(session: Session, side: int, phase: int | None = None) -> Board:
    """An engine's board; why it cannot be drawn, where it cannot."""
    try:
        if phase is not None:
            return session.world.draw(_phase_state(session, side, phase))
        return session.board(session.engines[side])
    except UsageError as error:
        return Board(((str(error),),), {})


def _board_lines(name: str, board: Board, cells: set[tuple[int, int]]) -> list[Text]:
    width = max((len(text) for row in board.rows for text in row), default=0)
    lines = [Text(name, "bold")]
    for row, texts in enumerate(board.rows):
        line = Text()
        for column, text in enumerate(texts):
            line.append((text or ".").ljust(width), DIFFERS if (row, column) in cells else "")
            line.append(" ")
        lines.append(line)
    return lines


def _phase_state(session: Session, side: int, phase: int) -> State:
    """The state after a phase; that after the step for an engine that did not have it."""
    told = phase_rows(session)[phase][1][side]
    return session.moment.states[side] if told is None else told.state


def panel(debugger: Debugger, name: str, width: int, phase: int | None = None) -> Text | Grid:
    """A panel by its name; text that fits the width is shown several times as fast as a table that folds its cells."""
    session = debugger.session
    if name == "help":
        return _help(debugger)
    if name == "forks":
        return Text(session.tree())
    if name == "rules":
        return _rules(session)
    heading = name, *dict.fromkeys(session.engines)
    rows: list[tuple[str, tuple[str, ...]]] = [("bold", heading)]
    for field, *values in islice(_rows(session, name, phase), _MOST):
        style = DIFFERS if values[0] != values[-1] else "bright_black" if values[0] in ("false", "0") else ""
        rows.append((style, (field, *values[: len(heading) - 1])))
    if len(rows) > _MOST:
        rows[-1] = "", ("… (a session in Python has the rest)", *[""] * (len(heading) - 1))
    widths = [max(map(cell_len, column)) for column in zip(*(cells for _, cells in rows), strict=True)]
    if sum(widths) + 2 * len(widths) - 2 > width:
        grid = Grid(box=None, padding=(0, 1), pad_edge=False, show_header=False)
        for style, (field, *values) in rows:
            grid.add_row(Text(field, style if style == "bold" else ""), *(Text(value, style) for value in values))
        for each in grid.columns:
            each.overflow = "fold"
        return grid
    text = Text()
    for style, cells in rows:
        for column, (cell, size) in enumerate(zip(cells, widths, strict=True)):
            text.append(set_cell_size(cell, size), "" if column == 0 and style != "bold" else style).append("  ")
        text.append("\n")
    return text


def _rows(session: Session, name: str, phase: int | None) -> Iterator[tuple[str, str, str]]:
    """Field and both engines' values."""
    one, other = session.engines[0], session.engines[1]
    if name == "differences":
        if not session.diff() and one != other:
            yield "the engines agree", "", ""
        for each in session.diff():
            yield each.field, value_text(each.expected), value_text(each.observed)
        scalars = _board(session, 0).scalars, _board(session, 1).scalars
        for field, value in scalars[0].items():
            yield f"  {field}", value_text(value), value_text(scalars[1].get(field, ""))
    elif name == "state":
        states = session.moment.states if phase is None else [_phase_state(session, side, phase) for side in (0, 1)]
        yield from _flat("", *states)
    elif name == "phases":
        yield from _phases(session)
    elif name == "marks":
        fired = session.moment.marks or ({}, {})
        for mark, rule in session.world.marks.items():
            if mark in fired[0] or mark in fired[1]:
                yield f"{mark} ({rule})", *(str(side.get(mark, 0)) for side in fired)  # type: ignore[misc]
    elif name == "actions":
        sides = session.mask(one), session.mask(other)
        for number, action in enumerate(session.world.actions):
            yield f"{number} {action}", value_text(sides[0][action]), value_text(sides[1][action])
    elif name == "reward":
        for field in ("reward", "terminated", "truncated"):
            yield field, *(value_text(session.field(field, engine)) for engine in (one, other))  # type: ignore[misc]
        yield from _flat("", session.components(one), session.components(other))
    else:
        yield from _flat("", *(session.observation(engine) for engine in (one, other)), zeros=name != OBSERVATION)


def _phases(session: Session) -> Iterator[tuple[str, str, str]]:
    """Each phase, what differs after it, and the words that it drew by their addresses."""
    phases = session.phases
    try:
        told = ["" if side is not None else "tells no phases" for side in phases.sides]
    except EngineError as error:
        yield str(error), "", ""
        return
    if phases.text or not all(phases.sides):
        yield phases.text or ("" if any(phases.sides) else "no phase"), told[0], told[1]
    for name, sides, differences in phases.rows():
        yield name, *("" if side else "-" for side in sides)  # type: ignore[misc]
        for each in differences:
            yield f"  {each.field}", value_text(each.expected), value_text(each.observed)
        drawn = [None if side is None or side.draws is None else dict(map(_word, side.draws)) for side in sides]
        for address in dict.fromkeys(address for words in drawn for address in words or ()):
            one, other = ("not told" if words is None else words.get(address, "-") for words in drawn)
            yield f"  word {address}", one, other


def _word(draw: Draw) -> tuple[str, str]:
    return draw.text, str(draw.word)


def named_here(session: Session) -> list[str]:
    """The marks that fired in the step, and the components that it earned without one of their own."""
    fired = {mark for side in session.moment.marks or () for mark in side}
    marked = {mark.rpartition(".")[2] for mark in fired}
    earned = [name for name, value in session.components().items() if value and name not in marked]
    return [*(mark for mark in session.world.marks if mark in fired), *earned]


def _rules(session: Session) -> Text:
    """The rules of the step's marks with their texts, and where the engines' sources have them."""
    text, shown = Text("" if session.moment.marks else "The engines do not both count marks.\n"), ""
    for name in named_here(session):
        component = name.rpartition(".")[2]
        rule = component if component in session.world.components else session.world.marks[name]
        if rule != shown:
            text.append(rule, "bold").append(f" {rule_text(session.world, rule)}\n")
            shown = rule
        for engine in dict.fromkeys(session.engines):
            places = source_lines(session.world, engine, name)[:3]
            listed = ", ".join(f"{path.name}:{line}" for path, line in places) or "no source found"
            text.append(f"  {name}  {engine}  {listed}\n", "bright_black" if not places else "")
    return text


def _flat(path: str, one: Any, other: Any, *, zeros: bool = True) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    """The leaves of two JSON values; those that are 0 on both sides are left out unless ``zeros``."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*one, *other)):
            yield from _flat(f"{path}.{key}".lstrip("."), one.get(key), other.get(key), zeros=zeros)
    elif isinstance(one, list) and isinstance(other, list) and one:
        for index in range(max(len(one), len(other))):
            sides = (side[index] if index < len(side) else None for side in (one, other))
            yield from _flat(f"{path}[{index}]", *sides, zeros=zeros)
    elif zeros or one or other:
        yield path, value_text(one), value_text(other)


def _help(debugger: Debugger) -> Text:
    text = Text()
    for word, (keys, _, about) in COMMANDS.items():
        text.append(f"{keys:>8}  ", "bold").append(f"{word} {about}\n".replace(" :", ":"))
    text.append("       :  ", "bold").append("type a command\n")
    text.append("     1-9  ", "bold").append(f"{', '.join(PANELS[:-1])}\n")
    text.append("     < >  ", "bold").append("the phase before, or the next one\n")
    text.append("       o  ", "bold").append("open MARK [ENGINE]: its source line in $EDITOR\n")
    text.append("       x  ", "bold").append("the other engine's board\n")
    text.append("       q  ", "bold").append("leave\n")
    return text.append(f"\nBreakpoints: {', '.join(debugger.breakpoints) or 'none'}")
