"""A divergence for people: in the terminal and as one HTML page that needs nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from parity.boards import differing_cells, differing_scalars, value_text
from parity.compare import Difference
from parity.replay import Moment
from parity.trace import RESTART, Action, Trace
from parity.world import Board, World

TERMINAL_DIFFERENCES = 12
DIFFERS = "bold white on red"


@dataclass(frozen=True)
class Report:
    """A replayed trace and the command that replays it."""

    world: World
    trace: Trace
    moments: tuple[Moment, ...]
    command: str

    @property
    def batch_only(self) -> bool:
        """The trace names differences that did not show when its case was played alone."""
        return bool(self.trace.differences) and not self.moments[-1].differences

    @property
    def headline(self) -> str:
        """One sentence that says what was found."""
        one, other = self.trace.engines
        if self.batch_only:
            return f"{one} and {other} differ within a batch, but not when this game is played alone."
        if not self.moments[-1].differences:
            return f"{one} and {other} agree on this case."
        last = self.moments[-1].action
        when = "at the start" if last is None else f"after {counted(len(self.moments) - 1, 'action')}"
        return f"{one} and {other} differ {when}" + ("." if last is None else f": {action_name(self.world, last)}.")


def counted(number: int, thing: str) -> str:
    """``1 step``, ``1,000 steps``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def action_name(world: World, action: Action | None) -> str:
    """How people call an action."""
    if action is None:
        return "start"
    if action == RESTART:
        return "restart"
    known = 0 <= action < len(world.actions)
    return f"{world.actions[action]} ({action})" if known else f"action {action}"


def start_text(trace: Trace) -> str:
    """Where a trace begins, and how long the game was in which its difference was found."""
    case = trace.case
    start = f"seed {case.seed}" if case.state is None else "the state recorded in the trace"
    return start if trace.found is None else f"{start} (shrunk from {counted(len(trace.found.actions), 'action')})"


def print_report(report: Report, console: Console) -> None:
    """The last moment of a report in the terminal: what differs, and the two boards side by side."""
    last = report.moments[-1]
    console.print(Text(report.headline, style="bold"))
    actions = ", ".join(action_name(report.world, moment.action) for moment in report.moments[1:]) or "none"
    console.print(Text(f"Start: {start_text(report.trace)}. Actions: {_shortened(actions)}."))
    if report.trace.rules:
        console.print(Text(f"Rules in play: {', '.join(report.trace.rules)}."))
    if report.trace.differences:
        console.print(_difference_table(report.trace.differences, report.trace.engines))
    console.print(_boards(report, last))
    console.print(Text(f"Replay with: {report.command}"), soft_wrap=True)


def _shortened(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"… {text[-limit:]}"


def _difference_table(differences: tuple[Difference, ...], engines: tuple[str, str]) -> RenderableType:
    table = Table("field", f"{engines[0]} (expected)", f"{engines[1]} (observed)")
    for difference in differences[:TERMINAL_DIFFERENCES]:
        cells = difference.field, value_text(difference.expected), value_text(difference.observed)
        table.add_row(*(Text(_shortened(cell, 60)) for cell in cells))
    more = len(differences) - TERMINAL_DIFFERENCES
    return Group(table, Text(f"… and {more} more, all in the trace")) if more > 0 else table


def _boards(report: Report, moment: Moment) -> RenderableType:
    boards = _drawn(report.world, moment)
    cells, scalars = differing_cells(boards), differing_scalars(boards)
    return Columns(
        Panel(_board(board, cells, scalars), title=Text(name), expand=False)
        for name, board in zip(report.trace.engines, boards, strict=True)
    )


def _drawn(world: World, moment: Moment) -> tuple[Board, Board]:
    one, other = moment.states
    return world.draw(one), world.draw(other)


def _board(board: Board, cells: set[tuple[int, int]], scalars: set[str]) -> RenderableType:
    grid = Table(show_header=False, show_lines=True)
    for row, texts in enumerate(board.rows):
        grid.add_row(*(Text(text, DIFFERS if (row, column) in cells else "") for column, text in enumerate(texts)))
    table = Table.grid(padding=(0, 1))
    for name, value in board.scalars.items():
        table.add_row(Text(name), Text(value_text(value), DIFFERS if name in scalars else ""))
    return Group(grid, table)


def write_page(report: Report, path: Path) -> None:
    """Write the report as one self-contained HTML page, every moment of the case included."""
    template = files("parity").joinpath("page.html").read_text(encoding="utf-8")
    # "<" inside the data would let a state close the script element.
    data = json.dumps(page_data(report)).replace("<", "\\u003c")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(template.replace("__REPORT__", data), encoding="utf-8")


def page_data(report: Report) -> dict[str, Any]:
    """What the page shows, as JSON values; numbers are texts, since browsers' numbers have 53 bits."""
    return {
        "world": report.world.name,
        "engines": list(report.trace.engines),
        "headline": report.headline,
        "inBatch": _difference_data(report.trace.differences) if report.batch_only else [],
        "start": start_text(report.trace),
        "command": report.command,
        "rules": list(report.trace.rules),
        "moments": [_moment_data(report.world, moment) for moment in report.moments],
    }


def _moment_data(world: World, moment: Moment) -> dict[str, Any]:
    boards = _drawn(world, moment)
    return {
        "action": action_name(world, moment.action),
        "boards": [
            {
                "rows": [list(row) for row in board.rows],
                "scalars": [[name, value_text(value)] for name, value in board.scalars.items()],
            }
            for board in boards
        ],
        "cells": sorted(differing_cells(boards)),
        "scalars": sorted(differing_scalars(boards)),
        "components": _component_data(world, moment),
        "marks": None if moment.marks is None else [sorted(fired) for fired in moment.marks],
        "differences": _difference_data(moment.differences),
    }


def _difference_data(differences: tuple[Difference, ...]) -> list[list[str]]:
    return [[found.field, value_text(found.expected), value_text(found.observed)] for found in differences]


def _component_data(world: World, moment: Moment) -> list[list[str]]:
    """Name and both values of the components that are not zero on both sides."""
    if moment.components is None:
        return []
    rows = zip(world.components, *moment.components, strict=True)
    return [[name, value_text(one), value_text(other)] for name, one, other in rows if one or other]
