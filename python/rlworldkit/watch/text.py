"""A frame as text: the board, the decision that led to it, and the rewards; for terminals and pipes."""

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.text import Text

from parity.table import Table
from rlworldkit.watch.controls import KEYS, Controls
from rlworldkit.watch.frames import Decision, Frame

_BAR = 14
MOST_ACTIONS = 8
"""That are shown with their probabilities."""


def page_sizes(text_size: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Columns and lines that a page needs with the decision beside the board, or below it, for the board's size."""
    columns, lines = text_size
    return (columns + 44, lines + 2), (max(columns, 80), lines + 14)


def print_frame(console: Console, frame: Frame) -> None:
    """Print a frame as a block of text, an empty line behind it."""
    console.print(_title(frame))
    console.print(_board(frame, colour=console.is_terminal))
    console.print(_columns(decision_text(frame), rewards_text(frame)))
    console.print()


def page(frame: Frame, controls: Controls, caption: str, width: int) -> RenderableType:
    """A frame that fills a terminal of this width, with the keys."""
    head = Text.assemble(_title(frame), ("  " + caption, "bright_black"))
    keys = Text.assemble(*(part for key, what in KEYS for part in ((key, "bold"), f" {what}   ")))
    foot = Text.assemble(keys, (controls.pace, "bold yellow" if controls.is_paused else "bright_black"))
    board, decision, rewards = _board(frame, colour=True), decision_text(frame), rewards_text(frame)
    if width >= page_sizes(frame.view.text_size)[0][0]:
        return Group(head, _columns(board, Group(decision, "", rewards)), foot)
    return Group(head, board, foot, _columns(decision, rewards))


def _title(frame: Frame) -> Text:
    if frame.ending:
        return Text(frame.verdict, "bold green" if frame.ending == frame.view.victory else "bold red")
    return Text(f"game {frame.seed}, step {frame.step}", "bold")


def _board(frame: Frame, *, colour: bool) -> Text:
    drawn = Text.from_ansi(frame.view.text(frame.state), no_wrap=True)
    return drawn if colour else Text("\n".join(line.rstrip() for line in drawn.plain.splitlines()), no_wrap=True)


def _columns(*parts: RenderableType) -> RenderableType:
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*parts)
    return grid


def decision_text(frame: Frame) -> RenderableType:
    """The action, the value, and the valid actions with bars, the likeliest first."""
    decision = frame.decision
    if decision is None:
        return Text("the game begins")
    names = frame.view.world.actions
    width = max(map(len, names))
    table = Table.grid(padding=(0, 1))
    shown = likeliest_first(decision)
    for action in shown[:MOST_ACTIONS]:
        probability, is_taken = float(decision.probabilities[action]), action == decision.action
        style = "bold cyan" if is_taken else ""
        table.add_row(
            Text("▸" if is_taken else " ", style),
            Text(f"{names[action]:<{width}}", style),
            Bar(1, 0, probability, width=_BAR, color="cyan" if is_taken else "bright_black"),
            Text(f"{probability:6.1%}", style),
        )
    rest = shown[MOST_ACTIONS:]
    more = Text(f"  {len(rest)} more {decision.probabilities[rest].sum():.1%}" if rest else "", "bright_black")
    value = "" if decision.value is None else f", value {decision.value:.2f}"
    taken = Text.assemble("action ", (names[decision.action], "bold cyan"), value)
    return Group(taken, table, more)


def likeliest_first(decision: Decision) -> list[int]:
    """The valid actions, by falling probability; the one taken is always among the first eight."""
    ranked = sorted(range(len(decision.probabilities)), key=lambda action: -decision.probabilities[action])
    shown = [action for action in ranked if decision.probabilities[action] > 0 or action == decision.action]
    if decision.action in shown[MOST_ACTIONS - 1 :]:
        shown.remove(decision.action)
        shown.insert(MOST_ACTIONS - 1, decision.action)
    return shown


def rewards_text(frame: Frame) -> RenderableType:
    """The components of the step and of the episode that are not 0, and their sums."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("reward", min_width=20)
    table.add_column("step", justify="right", min_width=8)
    table.add_column("episode", justify="right", min_width=8)
    for row in reward_rows(frame):
        table.add_row(*row)
    table.add_row("total", f"{frame.reward.sum():+.3f}", f"{frame.earned.sum():+.3f}", style="bold")
    return table


def reward_rows(frame: Frame) -> list[tuple[str, str, str]]:
    """Name, step and episode of the components of which there was something, in the order of the world."""
    return [
        (name, f"{step:+.3f}" if step else "", f"{episode:+.3f}")
        for name, step, episode in zip(frame.view.world.components, frame.reward, frame.earned, strict=True)
        if step or episode
    ]
