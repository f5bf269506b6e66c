"""Report of a divergence for people: in the terminal, and as one self-contained HTML page."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from rlparity.core.compare import Difference, differing_cells, differing_scalars, value_text
from rlparity.core.prices import prices_note
from rlparity.core.replay import ReplayMoment
from rlparity.core.step_phases import NOWHERE, Parting
from rlparity.core.trace import RESTART, Action, Trace
from rlparity.core.verdict import Verdict
from rlparity.engines.tape import TAPE
from rlparity.errors import blamed
from rlparity.io.console import counted
from rlparity.io.table import Table
from rlparity.viewer.page import Page, PageEpisode, PageStep
from rlparity.world import Board, World

TERMINAL_DIFFERENCES = 12
DIFFERS = "bold white on red"


@dataclass(frozen=True)
class NextCommand:
    """A command to run next. argv: its words, as a shell would pass them."""

    purpose: str
    argv: Sequence[str]

    @property
    def text(self) -> str:
        """The command as a line for a shell."""
        return shlex.join(self.argv)


@dataclass(frozen=True)
class Report:
    """A replayed trace, and the commands to run next; the first one replays it.

    parting: where in the last step the engines first differ. suspects: rules that, over other last actions too, fire
    just where the engines differ.
    """

    world: World
    trace: Trace
    moments: tuple[ReplayMoment, ...]
    next: Sequence[NextCommand]
    parting: Parting = NOWHERE
    suspects: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The first command as a line for a shell; empty where there is none."""
        return self.next[0].text if self.next else ""

    @property
    def batch_only(self) -> bool:
        """Whether the trace's differences show only in a batch, not when its case is played alone."""
        return bool(self.trace.differences) and not self.moments[-1].differences

    @property
    def headline(self) -> str:
        """Summary of the report in one sentence."""
        one, other = self.trace.engines
        if self.batch_only:
            return f"{one} and {other} differ within a batch, but not when this game is played alone."
        if not self.moments[-1].differences:
            return f"{one} and {other} agree on this case."
        last = self.moments[-1].action
        when = "at the start" if last is None else f"after {counted(len(self.moments) - 1, 'action')}"
        return f"{one} and {other} differ {when}" + ("." if last is None else f": {action_name(self.world, last)}.")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the rules in play and on where the engines part, as far as these are known."""
        rules = f"Rules in play: {', '.join(self.trace.rules)}." if self.trace.rules else ""
        return tuple(filter(None, (rules, self.parting.text)))


def action_name(world: World, action: Action | None) -> str:
    """Describe an action for people: its name and number, or its numbers."""
    if action is None:
        return "start"
    if action == RESTART:
        return "restart"
    if isinstance(action, tuple):
        return f"({', '.join(f'{number:g}' for number in action)})"
    known = 0 <= action < len(world.actions)
    return f"{world.actions[action]} ({action})" if known else f"action {action}"


def start_text(trace: Trace) -> str:
    """Describe the start of a trace: seed or state, length of the game before shrinking, mode, and changed prices."""
    case = trace.case
    start = f"seed {case.seed}" if case.state is None else "the state recorded in the trace"
    shrunk = " (not shrunk: a tape plays no other games)" if trace.engines[0].startswith(TAPE) else ""
    shrunk = shrunk if trace.found is None else f" (shrunk from {counted(len(trace.found.actions), 'action')})"
    mode = f", found in mode {trace.mode}" if trace.mode else ""
    return f"{start}{shrunk}{mode}{prices_note(trace.prices)}"


def print_report(report: Report, console: Console) -> None:
    """Print the last step of a report: the differences, the board before it, and the boards of both sides after it."""
    console.print(Text(report.headline, style="bold"))
    actions = ", ".join(action_name(report.world, moment.action) for moment in report.moments[1:]) or "none"
    console.print(Text(f"Start: {start_text(report.trace)}. Actions: {_shortened(actions)}."))
    for note in report.notes:
        console.print(Text(note))
    if report.trace.differences:
        console.print(difference_table(report.trace.differences, report.trace.engines))
        if (unit := report.world.component_unit) != 1 and any(
            "components" in each.field for each in report.trace.differences
        ):
            console.print(Text(f"Components are in units of {unit:g} reward."))
    console.print(_boards(report))
    if report.world.signs:
        signs = "  ".join(f"{sign} {meaning}" for sign, meaning in report.world.signs.items())
        console.print(Text(f"Signs: {signs}", style="bright_black"))
    if report.command:
        console.print(Text(f"Replay with: {report.command}"), soft_wrap=True)


def _shortened(text: str, limit: int = 300) -> str:
    return text if len(text) <= limit else f"... {text[-limit:]}"


def difference_table(
    differences: tuple[Difference, ...], engines: tuple[str, str], rest: str = "all in the trace"
) -> RenderableType:
    """Table of the first differences, with the values of both engines. rest: where the others can be read."""
    table = Table("field", f"{engines[0]} (expected)", f"{engines[1]} (observed)")
    for difference in differences[:TERMINAL_DIFFERENCES]:
        cells = difference.field, value_text(difference.expected), value_text(difference.observed)
        table.add_row(*(Text(_shortened(cell, 60)) for cell in cells))
    more = len(differences) - TERMINAL_DIFFERENCES
    return Group(table, Text(f"... and {more} more, {rest}")) if more > 0 else table


def _boards(report: Report) -> RenderableType:
    """Draw the board before the last action, where the engines agreed, beside both boards after it."""
    *before, last = report.moments
    boards = _drawn(report.world, last)
    cells, scalars = differing_cells(boards), differing_scalars(boards)
    shown = [(name, _board(board, cells, scalars)) for name, board in zip(report.trace.engines, boards, strict=True)]
    if before and before[-1].states[0]:
        name = "start" if len(before) == 1 else f"before {action_name(report.world, last.action)}"
        shown.insert(0, (name, _board(_drawn(report.world, before[-1])[0], set(), set())))
    return Columns(Panel(board, title=Text(name), expand=False) for name, board in shown)


def _drawn(world: World, moment: ReplayMoment) -> tuple[Board, ...]:
    with blamed(f"drawing a state of world '{world.name}'"):
        return tuple(world.draw(state) if state else Board((), {}) for state in moment.states)


def _board(board: Board, cells: set[tuple[int, int]], scalars: set[str]) -> RenderableType:
    grid = Table(show_header=False, show_lines=True)
    for row, texts in enumerate(board.rows):
        grid.add_row(*(Text(text, DIFFERS if (row, column) in cells else "") for column, text in enumerate(texts)))
    table = Table.grid(padding=(0, 1))
    for name, value in board.scalars.items():
        table.add_row(Text(name), Text(value_text(value), DIFFERS if name in scalars else ""))
    return Group(grid, table)


def report_page(report: Report) -> Page:
    """Make the page of a report: one episode with two sides and every moment of the case."""
    trace = report.trace
    verdict = f"{Verdict.DIVERGENT}. " if trace.differences else ""
    name = "the recorded state" if trace.case.seed is None else f"seed {trace.case.seed}"
    return Page(
        headline=report.headline,
        sides=trace.engines,
        episodes=(report_episode(report, name, counted(len(report.moments) - 1, "action")),),
        about=(f"{verdict}World {report.world.name}. Start: {start_text(trace)}.", *report.notes),
        command=report.command,
    )


def report_episode(report: Report, name: str, verdict: str) -> PageEpisode:
    """Make the two-sided page episode of a report's case."""
    return PageEpisode(
        name=name,
        verdict=verdict,
        steps=(_step(report.world, moment) for moment in report.moments),
        in_batch=report.trace.differences if report.batch_only else (),
    )


def _step(world: World, moment: ReplayMoment) -> PageStep:
    return PageStep(
        action=action_name(world, moment.action),
        boards=_drawn(world, moment),
        components=moment.components,
        differences=moment.differences,
        marks=None if moment.marks is None else tuple(tuple(sorted(fired)) for fired in moment.marks),
    )
