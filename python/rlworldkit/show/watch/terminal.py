"""Frames as text: the board, the decision that led to it, and the rewards, for pipes and for a terminal as a screen."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from rlparity import World
from rlparity.io.table import Table
from rlworldkit.render.display import is_room, missing_room, require_room
from rlworldkit.render.panels import Panels
from rlworldkit.render.show import show_of, text_of
from rlworldkit.render.spans import as_text, joined, width
from rlworldkit.show.watch.controls import KEYS, Controls
from rlworldkit.show.watch.frames import MOST_ACTIONS, VALUE, Frame

Size = tuple[int, int]
"""Columns and lines."""

_BAR = 14
_BESIDE = 44
"""Columns that the decision takes beside the board."""
_CTRL_C = b"\x03"


def page_sizes(text_size: Size) -> tuple[Size, Size, Size]:
    """Return the sizes that a page needs with the decision beside the board, below it, or with a small board."""
    columns, lines = text_size
    return (columns + _BESIDE, lines + 2), (max(columns, 80), lines + 15), (80, 24)


def print_frame(console: Console, frame: Frame) -> None:
    """Print a frame as a block of text, followed by an empty line."""
    console.print(_title(frame))
    console.print(_board(frame, colour=console.is_terminal))
    console.print(_columns(decision_text(frame), rewards_text(frame)))
    console.print()


def page(frame: Frame, controls: Controls, caption: str, size: Size, panels: Panels) -> RenderableType:
    """Lay out a frame and the keys for a terminal of this size; ``panels`` provide the board for a small one."""
    beside, below, small = page_sizes(show_of(frame.world).text_size)
    if not any(is_room(size, each) for each in (beside, below, small)):
        return Text(missing_room(size, small))
    caption, pace = f"  {caption}", (controls.pace, "bold yellow" if controls.is_paused else "bright_black")
    head = Text.assemble(_title(frame), (caption, "bright_black"), no_wrap=True)
    keys = Text.assemble(*(part for key, what in KEYS for part in ((key, "bold"), f" {what}   ")), no_wrap=True)
    foot = Text.assemble(keys, pace)
    decision, rewards = decision_text(frame), rewards_text(frame)
    if is_room(size, beside):
        return Group(head, _columns(_board(frame, colour=True), Group(decision, "", rewards)), foot)
    if is_room(size, below):
        return Group(head, _board(frame, colour=True), foot, _columns(decision, rewards))
    head = Text.assemble(_title(frame), "  ", pace, (caption, "bright_black"), no_wrap=True)
    board = panels.board(frame.state, large=False)
    numbers = as_text([joined(parts) for parts in panels.numbers(frame.state, large=False)])
    lines = max(size[1] - len(board) - 2, 5)
    if size[0] >= width(board[0]) + _BESIDE:
        right = Group(numbers, "", decision)
        return Group(head, _columns(as_text(board), right, gap=2), keys, rewards_text(frame, lines))
    decision, rewards = decision_text(frame, lines), rewards_text(frame, lines)
    return Group(head, _columns(as_text(board), numbers, gap=1), keys, _columns(decision, rewards, gap=2))


def _title(frame: Frame) -> Text:
    if frame.ending:
        return Text(frame.verdict, "bold green" if frame.ending == show_of(frame.world).victory else "bold red")
    return Text(f"game {frame.seed}, step {frame.step}", "bold")


def _board(frame: Frame, *, colour: bool) -> Text:
    drawn = Text.from_ansi(text_of(frame.world, frame.state), no_wrap=True)
    return drawn if colour else Text("\n".join(line.rstrip() for line in drawn.plain.splitlines()), no_wrap=True)


def _columns(*parts: RenderableType, gap: int = 4) -> RenderableType:
    grid = Table.grid(padding=(0, gap))
    grid.add_row(*parts)
    return grid


def decision_text(frame: Frame, lines: int = MOST_ACTIONS + 3) -> RenderableType:
    """Render the action, the value, and the valid actions with bars, the likeliest first."""
    decision = frame.decision
    if decision is None:
        return Text("the game begins")
    names = frame.world.actions
    width = max(map(len, names))
    table = Table.grid(padding=(0, 1))
    shown, more = decision.likeliest(lines - 3)
    for action in shown:
        probability, is_taken = float(decision.probabilities[action]), action == decision.action
        style = "bold cyan" if is_taken else ""
        table.add_row(
            Text("▸" if is_taken else " ", style),
            Text(f"{names[action]:<{width}}", style),
            Bar(1, 0, probability, width=_BAR, color="cyan" if is_taken else "bright_black"),
            Text(f"{probability:6.1%}", style),
        )
    taken = Text.assemble("action ", (names[decision.action], "bold cyan"))
    value = [] if decision.value is None else [Text(f"value {decision.value:.2f}: {VALUE}")]
    return Group(taken, *value, table, Text(f"  {more}" if more else "", "bright_black"))


def rewards_text(frame: Frame, lines: int | None = None) -> RenderableType:
    """Render the nonzero reward components and the sums; with few ``lines``, the step's components come first."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("reward", min_width=20)
    table.add_column("step", justify="right", min_width=8)
    table.add_column("episode", justify="right", min_width=8)
    *rows, total = frame.reward_rows
    if lines is not None and len(rows) > lines - 2:
        rows = [*sorted(rows, key=lambda row: not row[1])[: lines - 3], ("…", "", "")]
    for row in rows:
        table.add_row(*row)
    table.add_row(*total, style="bold")
    return table


class Terminal:
    """A terminal that shows pages of its current size and reads keys one by one."""

    def __init__(self, live: Live, caption: str, panels: Panels) -> None:
        self._live, self._caption, self._panels = live, caption, panels
        self._shown: tuple[Frame, Controls] | None = None
        self._size = live.console.size

    def show(self, frame: Frame, controls: Controls) -> None:
        """Show a frame."""
        self._shown, self._size = (frame, controls), self._live.console.size
        self._live.update(page(frame, controls, self._caption, self._size, self._panels), refresh=True)

    def key(self, seconds: float) -> str | None:
        """Return the next key, q if the terminal has gone; redraws the page if the terminal's size has changed."""
        descriptor = sys.stdin.fileno()
        if self._shown and self._live.console.size != self._size:
            self.show(*self._shown)
        if not select.select([descriptor], [], [], seconds)[0]:
            return None
        pressed = os.read(descriptor, 1)
        return "q" if pressed in (b"", _CTRL_C) else pressed.decode("ascii", "replace")


@contextmanager
def open_terminal(console: Console, caption: str, world: World, engine: str) -> Iterator[Terminal]:
    """Context with the terminal as a screen, restored afterwards. Raises UsageError if the terminal is too small."""
    require_room(console, "watching", *page_sizes(show_of(world).text_size))
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        raw = termios.tcgetattr(descriptor)
        # as signals, these could end the process before the terminal is restored; as a key, Ctrl-C quits
        for control in (termios.VINTR, termios.VQUIT, termios.VSUSP):
            raw[6][control] = b"\0"
        termios.tcsetattr(descriptor, termios.TCSADRAIN, raw)
        with Live(console=console, screen=True, auto_refresh=False) as live:
            yield Terminal(live, caption, show_of(world).panels(world, engine))
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
