"""Text of each part of the playing screen, in a small and a large layout."""

import math
from dataclasses import dataclass

from rich.text import Text

from rlparity.core.prices import changed_prices, prices_note
from rlworldkit.render.spans import BAD, FAINT, GOOD, Line, Span, as_text, joined, width
from rlworldkit.show.play.game import PlayedGame, signed, turn_line
from rlworldkit.show.play.session import PlaySession

WIDTH = 80
"""Least number of columns that playing needs."""
_NOTE = 11
_BESIDE = 24
"""Least number of columns beside the board."""


@dataclass(frozen=True)
class Layout:
    """Size of a screen, and how it shows the actions.

    size: least columns and lines. rows: number of actions in a column. large: whether one column shows all actions.
    """

    size: tuple[int, int]
    rows: int
    large: bool


def layout_of(session: PlaySession, *, large: bool) -> Layout:
    """Return the layout: numbers below a large board and actions beside both, or numbers beside and actions below."""
    panels, state, count = session.panels, session.game.state, len(session.game.world.actions)
    if large and panels.large_size:
        return Layout(panels.large_size, count, large=True)
    lines, numbers = panels.board(state, large=False), panels.numbers(state, large=False)
    board = max(map(width, lines))
    columns = max(WIDTH, board + max(_BESIDE, 2 + max(width(joined(parts)) for parts in numbers)))
    column = 1 + width(_entry(session, count - 1))
    rows = math.ceil((count - panels.beside) / ((columns + 1) // column))
    return Layout((columns, 3 + max(len(lines), len(numbers) + panels.beside + 2) + rows), rows, large=False)


def title(session: PlaySession, pace: str, width: int) -> Text:
    """Render the game, its phase, and the keys that are most useful now, in one line."""
    game = session.game
    doing, keys = "", "? help  Tab look ahead  q leave"
    if session.is_looking:
        doing, keys = ": looking ahead", "Enter play it  Tab back  ? help"
    elif session.agent_plays:
        doing, keys = f", the agent plays, {pace}", "Space take over  ? help  q leave"
    elif game.ending:
        doing, keys = f": {game.ending}", "N next game  ? help  q leave"
    elif session.player:
        keys = "? help  Tab look ahead  Space agent  q leave"
    text = f"game {game.seed}, step {len(game.turns)}{doing}{prices_note(changed_prices(game.world))}"
    room = width - len(text)
    keys = keys if len(keys) <= room - 2 else "? help"
    return Text.assemble((text, "bold reverse" if session.is_looking else "bold"), keys.rjust(room))


def status(session: PlaySession, *, large: bool) -> Text:
    """Render the numbers and the rewards; in the small layout also the actions that are shown beside the board."""
    game, panels = session.displayed, session.panels
    numbers = panels.numbers(game.state, large=large)
    step: Line = [(f"step {_sum(game, game.components)}", "")]
    episode: Line = [(f"episode {_sum(game, game.earned)}", "bold")]
    if large:
        first, second, *others = numbers
        return as_text([joined([*first, step]), joined([*second, episode]), *map(joined, others)])
    moves = (_entry(session, move, costs=False) for move in range(panels.beside))
    return as_text([*map(joined, numbers), *moves, step, episode])


def actions(session: PlaySession, layout: Layout) -> Text:
    """Render actions with key, cost and validity: all in one column, with full reasons, or the others in several."""
    count = len(session.game.world.actions)
    if layout.large:
        return as_text([_entry(session, action, large=True) for action in range(count)])
    entries = [_entry(session, action) for action in range(session.panels.beside, count)]
    return as_text([joined(entries[row :: layout.rows], 1) for row in range(layout.rows)])


def message(session: PlaySession) -> Text:
    """Render the message to the player: two lines at most."""
    style = BAD if session.message.is_refusal else "cyan" if session.preview else ""
    return as_text([[(line, style)] for line in session.message.lines])


def rewards(game: PlayedGame) -> Text:
    """Render all components of the last step and of the episode, and their sums, in 40 columns."""
    step, episode = game.components, game.earned
    steps, episodes = (game.in_rewards((*values, sum(values))) for values in (step, episode))
    names = (*game.world.components, "total")
    lines: list[Line] = [[(f"{'reward':<20}{'step':>9}{'episode':>11}", "bold")]]
    for name, *values in zip(names, steps, episodes, strict=True):
        of_step, of_episode = (f"{value:+.3f}" if value else "" for value in values)
        style = "bold" if name is names[-1] else "" if any(values) else FAINT
        lines.append([(f"{name:<20}{of_step:>9}{of_episode:>11}", style)])
    return as_text(lines)


def log(game: PlayedGame, last: int | None = None) -> Text:
    """Render the log, step by step; only the ``last`` steps if a number is given."""
    numbered = list(enumerate(game.turns, start=1))[-last if last else 0 :]
    lines = [turn_line(game, number, turn) for number, turn in numbered] or ["nothing is done yet"]
    return Text("\n".join(lines))


def _sum(game: PlayedGame, components: tuple[int, ...]) -> str:
    return signed(game.in_rewards((sum(components),))[0])


def _entry(session: PlaySession, action: int, *, large: bool = False, costs: bool = True) -> Line:
    """Render key, name, cost and note of an action, in reverse video if the action is previewed."""
    names = session.game.world.actions
    entry = [
        (f"{session.panels.signs[action]} ", "bold" if session.game.mask[action] else FAINT),
        (f"{names[action]:<{max(map(len, names)) + 1}}", ""),
    ]
    texts = [session.panels.cost(each) for each in range(len(names))]
    if costs and any(texts):
        entry.append((f"{texts[action]:<{max(map(len, texts)) + 1}}", FAINT))
    entry.append(_note(session, action, large=large))
    is_previewed = session.preview is not None and session.preview.action == action
    return [(text, "reverse") for text, _ in entry] if is_previewed else entry


def _note(session: PlaySession, action: int, *, large: bool) -> Span:
    """Render the probability with which the agent takes a valid action, or the obstacle to an invalid one."""
    against = session.obstacle(action)
    if against is None:
        likely = f" {session.decision.probabilities[action]:4.0%}" if session.decision else ""
        return f"{f'ready{likely}':<{_NOTE}}", GOOD
    reason = str(against) if large else f"{against.brief:<{_NOTE}}"
    return reason, FAINT if against.brief == session.panels.usual else "yellow"
