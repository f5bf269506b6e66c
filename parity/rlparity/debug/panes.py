"""Texts of the parts of the debugger's screen."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.table import Table as Grid
from rich.text import Text

from rlparity.core.compare import OBSERVATION, differing_cells, value_text
from rlparity.debug.debugger import COMMANDS, Debugger
from rlparity.debug.session import Session
from rlparity.errors import EngineError, UsageError
from rlparity.tools.report import DIFFERS, action_name
from rlparity.tools.rules import rule_text, source_lines
from rlparity.world import Board

HELP = "help"
PANELS = ("differences", "reward", "marks", "actions", "observation", "state", "forks", "phases", "rules", HELP)
"""Panels in the order of their keys 1 to 9; ``?`` toggles the last."""
_KEYS = {
    ":": "type a command",
    "1-9": ", ".join(PANELS[:-1]),
    "?": "this help; ? or Esc closes it",
    "x": "the other engine's board",
    "q": "leave",
}
BESIDE = 44
"""Minimum columns of a panel beside the boards."""
BELOW = 3
"""Minimum lines of a panel below the boards."""
_MOST = 2000


def title(debugger: Debugger, width: int) -> Text:
    """Title line: world, fork, step and next action, and whether the engines agree."""
    session = debugger.session
    fork, action = session.current, session.next_action
    following = "" if action is None else f", next {action_name(session.world, action)}"
    over = ", over" if session.moment.is_over else ""
    text = f"{session.world.name}, fork {fork.number} of {len(session.forks)}, step {session.position}{over}{following}"
    said, style = ("differ", DIFFERS) if session.diff() else ("agree", "bold green")
    pair = " and ".join(dict.fromkeys(session.engines))
    pair += f" {said}" if len(set(session.engines)) > 1 else ""
    return Text.assemble((text[: width - len(pair) - 1].ljust(width - len(pair)), "bold"), (pair, style), no_wrap=True)


def boards(session: Session, size: tuple[int, int], engine: int) -> tuple[Text, int]:
    """Draw the boards after the step, with differences marked; return them and their columns beside a panel.

    A panel is beside tall boards, else below them (0 columns). Where both are too wide, only ``engine``'s is shown.
    """
    names = [*dict.fromkeys(session.engines)]
    both = _board(session, 0), _board(session, 1)
    cells = differing_cells(both) if len(names) > 1 else set()
    shown = [_board_lines(name, board, cells) for name, board in zip(names, both, strict=False)]
    width = max(map(len, shown[0])) + 2
    is_beside = width + BESIDE <= size[0] and len(shown[0]) > size[1] // 3
    if len(shown) * width > size[0] - BESIDE * is_beside:
        shown = [shown[engine % len(shown)]]
    lines = []
    for parts in zip(*shown, strict=True):
        for part in parts[:-1]:
            part.pad_right(width - len(part))
        lines.append(Text.assemble(*parts))
        lines[-1].truncate(size[0], overflow="ellipsis")
    return Text("\n", no_wrap=True, end="").join(lines), len(shown) * width * is_beside


def _board(session: Session, side: int) -> Board:
    """Draw an engine's board, or a board with the error message if drawing fails."""
    try:
        return session.board(session.engines[side])
    except UsageError as error:
        return Board(((str(error),),), {})


def _board_lines(name: str, board: Board, cells: set[tuple[int, int]]) -> list[Text]:
    width = max((len(text) for row in board.rows for text in row), default=0)
    lines = [Text(name, "bold")]
    for row, texts in enumerate(board.rows):
        styles = [DIFFERS if (row, column) in cells else "" for column in range(len(texts))]
        parts = [((text or ".").ljust(width), style) for text, style in zip(texts, styles, strict=True)]
        lines.append(Text(" ").join(Text(*part) for part in parts))
    return lines


def panel(debugger: Debugger, name: str, width: int) -> Text | Grid:
    """Render a panel: as text if it fits the width, which is several times as fast as a table that folds its cells."""
    session = debugger.session
    if name == HELP:
        return _help(debugger)
    if name == "forks":
        return Text(session.tree())
    if name == "rules":
        return _rules(session)
    heading = name, *dict.fromkeys(session.engines)
    rows: list[tuple[str, tuple[str, ...]]] = [("bold", heading)]
    for field, *values in islice(_rows(session, name), _MOST):
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


def _rows(session: Session, name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the rows of a panel: field and both engines' values."""
    if name == "differences":
        if not session.diff() and session.engines[0] != session.engines[1]:
            yield "the engines agree", "", ""
        for each in session.diff():
            yield each.field, value_text(each.expected), value_text(each.observed)
        scalars = (_board(session, side).scalars for side in (0, 1))
        yield from _flat("", *({f"  {field}": value for field, value in side.items()} for side in scalars))
    elif name == "phases":
        yield from _phases(session)
    else:
        yield from _flat("", *(_value(session, name, side) for side in (0, 1)), zeros=name != OBSERVATION)


def _value(session: Session, name: str, side: int) -> object:
    """Return one engine's content of a panel as a JSON value."""
    engine = session.engines[side]
    if name == "state":
        return session.state(engine)
    if name == "marks":
        fired = session.moment.marks or ({}, {})
        rules = session.world.marks.items()
        return {f"{mark} ({rule})": fired[side].get(mark, 0) for mark, rule in rules if mark in fired[0] | fired[1]}
    if name == "actions":
        return {f"{number} {action}": valid for number, (action, valid) in enumerate(session.mask(engine).items())}
    if name == "reward":
        ends = {field: session.field(field, engine) for field in ("reward", "terminated", "truncated")}
        return ends | session.components(engine)
    return session.observation(engine)


def _phases(session: Session) -> Iterator[tuple[str, str, str]]:
    """Yield rows for each phase, the differences after it, and the words that it drew, by address."""
    phases = session.moment.phases
    try:
        silent = ["" if side is not None else "tells no phases" for side in phases.sides]
    except EngineError as error:
        yield str(error), "", ""
        return
    text = phases.parting.text
    if text or not all(phases.sides):
        yield text or ("" if any(phases.sides) else "no phase"), silent[0], silent[1]
    for name, sides, differences in phases.rows():
        yield name, *("" if side else "-" for side in sides)  # type: ignore[misc]
        for each in differences:
            yield f"  {each.field}", value_text(each.expected), value_text(each.observed)
        told = [None if side is None else side.draws for side in sides]
        drawn = [{draw.text: str(draw.word) for draw in draws or ()} for draws in told]
        for address in drawn[0] | drawn[1]:
            both = zip(told, drawn, strict=True)
            one, other = ("not told" if draws is None else words.get(address, "-") for draws, words in both)
            yield f"  word {address}", one, other


def named_here(session: Session) -> list[str]:
    """List the marks that fired in the step, then its nonzero components that have no fired mark."""
    fired = {mark for side in session.moment.marks or () for mark in side}
    marked = {mark.rpartition(".")[2] for mark in fired}
    earned = [name for name, value in session.components().items() if value and name not in marked]
    return [*(mark for mark in session.world.marks if mark in fired), *earned]


def _rules(session: Session) -> Text:
    """Rules panel: rules of the step's marks with their texts and source lines in both engines."""
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
    """Flatten two JSON values to rows of leaves; without ``zeros``, leave out leaves that are 0 on both sides."""
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
    for keys, about in _KEYS.items():
        text.append(f"{keys:>8}  ", "bold").append(f"{about}\n")
    text.append(f"\nBreakpoints: {debugger.listed()}\n\n")
    for sign, meaning in debugger.session.world.signs.items():
        text.append(f"{sign:>8}  ", "bold").append(f"{meaning}\n")
    return text
