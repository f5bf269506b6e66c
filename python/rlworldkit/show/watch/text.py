"""Text of a frame, for terminals and pipes: the board, the decision that led to it, and the rewards."""

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.text import Text

from rlparity.io.table import Table
from rlworldkit.render.display import is_room, missing_room
from rlworldkit.render.panels import Panels
from rlworldkit.render.show import show_of, text_of
from rlworldkit.render.spans import as_text, joined, width
from rlworldkit.show.watch.controls import KEYS, Controls
from rlworldkit.show.watch.frames import Decision, Frame

Size = tuple[int, int]
"""Columns and lines."""

_BAR = 14
_BESIDE = 44
"""Columns that the decision takes beside the board."""
MOST_ACTIONS = 8
"""Number of actions that are shown with their probabilities."""
VALUE = "reward still expected"
"""Label of an agent's value."""


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
    most = lines - 3
    shown = likeliest_first(decision, most)
    for action in shown[:most]:
        probability, is_taken = float(decision.probabilities[action]), action == decision.action
        style = "bold cyan" if is_taken else ""
        table.add_row(
            Text("▸" if is_taken else " ", style),
            Text(f"{names[action]:<{width}}", style),
            Bar(1, 0, probability, width=_BAR, color="cyan" if is_taken else "bright_black"),
            Text(f"{probability:6.1%}", style),
        )
    rest = shown[most:]
    more = Text(f"  {len(rest)} more {decision.probabilities[rest].sum():.1%}" if rest else "", "bright_black")
    taken = Text.assemble("action ", (names[decision.action], "bold cyan"))
    value = [] if decision.value is None else [Text(f"value {decision.value:.2f}: {VALUE}")]
    return Group(taken, *value, table, more)


def likeliest_first(decision: Decision, most: int = MOST_ACTIONS) -> list[int]:
    """List the valid actions by falling probability; the one taken is always among the first ``most``."""
    ranked = sorted(range(len(decision.probabilities)), key=lambda action: -decision.probabilities[action])
    shown = [action for action in ranked if decision.probabilities[action] > 0 or action == decision.action]
    if decision.action in shown[most - 1 :]:
        shown.remove(decision.action)
        shown.insert(most - 1, decision.action)
    return shown


def rewards_text(frame: Frame, lines: int | None = None) -> RenderableType:
    """Render the nonzero reward components and the sums; with few ``lines``, the step's components come first."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("reward", min_width=20)
    table.add_column("step", justify="right", min_width=8)
    table.add_column("episode", justify="right", min_width=8)
    rows = reward_rows(frame)
    if lines is not None and len(rows) > lines - 2:
        rows = [*sorted(rows, key=lambda row: not row[1])[: lines - 3], ("…", "", "")]
    for row in rows:
        table.add_row(*row)
    table.add_row("total", f"{frame.reward.sum():+.3f}", f"{frame.earned.sum():+.3f}", style="bold")
    return table


def reward_rows(frame: Frame) -> list[tuple[str, str, str]]:
    """List name, step's and episode's reward of each nonzero component, in the order of the world."""
    return [
        (name, f"{step:+.3f}" if step else "", f"{episode:+.3f}")
        for name, step, episode in zip(frame.world.components, frame.reward, frame.earned, strict=True)
        if step or episode
    ]
