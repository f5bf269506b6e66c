"""A moment as text: the board, the decision that led to it, and the rewards; for terminals and pipes."""

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.text import Text

from hackmatrix.render import draw_text
from hackmatrix.rules import ACTIONS, COMPONENTS, NUM_ACTIONS
from hackmatrix.watch.controls import KEYS, Controls
from hackmatrix.watch.play import Decision, Moment
from parity.table import Table

WIDE, TALL = (144, 28), (100, 40)
"""Columns and lines that a page needs with the decision beside the board, or below it."""
_BAR = 14
MOST_ACTIONS = 8
"""That are shown with their probabilities."""


def print_moment(console: Console, moment: Moment) -> None:
    """Print a moment as a block of text, an empty line behind it."""
    console.print(_title(moment))
    console.print(_board(moment, colour=console.is_terminal))
    console.print(_columns(decision_text(moment), rewards_text(moment)))
    console.print()


def page(moment: Moment, controls: Controls, caption: str, width: int) -> RenderableType:
    """A moment that fills a terminal of this width, with the keys."""
    head = Text.assemble(_title(moment), ("  " + caption, "bright_black"))
    keys = Text.assemble(*(part for key, what in KEYS for part in ((key, "bold"), f" {what}   ")))
    foot = Text.assemble(keys, (controls.pace, "bold yellow" if controls.is_paused else "bright_black"))
    board, decision, rewards = _board(moment, colour=True), decision_text(moment), rewards_text(moment)
    if width >= WIDE[0]:
        return Group(head, _columns(board, Group(decision, "", rewards)), foot)
    return Group(head, board, foot, _columns(decision, rewards))


def _title(moment: Moment) -> Text:
    if moment.ending:
        return Text(moment.verdict, "bold green" if moment.board.won else "bold red")
    return Text(f"game {moment.seed}, step {moment.step}", "bold")


def _board(moment: Moment, *, colour: bool) -> Text:
    return Text.from_ansi(draw_text(moment.board, colour=colour), no_wrap=True)


def _columns(*parts: RenderableType) -> RenderableType:
    grid = Table.grid(padding=(0, 4))
    grid.add_row(*parts)
    return grid


def decision_text(moment: Moment) -> RenderableType:
    """The action, the value, and the valid actions with bars, the likeliest first."""
    decision = moment.decision
    if decision is None:
        return Text("the game begins")
    table = Table.grid(padding=(0, 1))
    shown = likeliest_first(decision)
    for action in shown[:MOST_ACTIONS]:
        probability, is_taken = float(decision.probabilities[action]), action == decision.action
        style = "bold cyan" if is_taken else ""
        table.add_row(
            Text("▸" if is_taken else " ", style),
            Text(f"{ACTIONS[action]:<6}", style),
            Bar(1, 0, probability, width=_BAR, color="cyan" if is_taken else "bright_black"),
            Text(f"{probability:6.1%}", style),
        )
    rest = shown[MOST_ACTIONS:]
    more = Text(f"  {len(rest)} more {decision.probabilities[rest].sum():.1%}" if rest else "", "bright_black")
    taken = Text.assemble("action ", (ACTIONS[decision.action], "bold cyan"), f", value {decision.value:.2f}")
    return Group(taken, table, more)


def likeliest_first(decision: Decision) -> list[int]:
    """The valid actions, by falling probability; the one taken is always among the first eight."""
    ranked = sorted(range(NUM_ACTIONS), key=lambda action: -decision.probabilities[action])
    shown = [action for action in ranked if decision.probabilities[action] > 0 or action == decision.action]
    if decision.action in shown[MOST_ACTIONS - 1 :]:
        shown.remove(decision.action)
        shown.insert(MOST_ACTIONS - 1, decision.action)
    return shown


def rewards_text(moment: Moment) -> RenderableType:
    """The components of the step and of the episode that are not 0, and their sums."""
    table = Table(box=None, padding=(0, 1), pad_edge=False)
    table.add_column("reward", min_width=20)
    table.add_column("step", justify="right", min_width=8)
    table.add_column("episode", justify="right", min_width=8)
    for name, step, episode in reward_rows(moment):
        table.add_row(name, step, episode)
    table.add_row("total", f"{moment.reward.sum():+.3f}", f"{moment.earned.sum():+.3f}", style="bold")
    return table


def reward_rows(moment: Moment) -> list[tuple[str, str, str]]:
    """Name, step and episode of the components of which there was something, in the order of table W."""
    return [
        (name, f"{step:+.3f}" if step else "", f"{episode:+.3f}")
        for name, step, episode in zip(COMPONENTS, moment.reward, moment.earned, strict=True)
        if step or episode
    ]
