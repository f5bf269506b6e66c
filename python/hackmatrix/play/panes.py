"""What stands in each part of the screen, as text with styles; in little room and in much."""

from rich.text import Text

from hackmatrix.explain.actions import cost_text, obstacle
from hackmatrix.play import sayings
from hackmatrix.play.game import Game
from hackmatrix.play.keys import SIGNS
from hackmatrix.play.session import Session
from hackmatrix.play.table import Components
from hackmatrix.render import compact, spans
from hackmatrix.render.spans import BAD, FAINT, GOOD, Line, Span
from hackmatrix.render.text import board_lines
from hackmatrix.rules import ACTIONS, COMPONENTS, MOVES, NUM_ACTIONS, SIPHON

WIDTH, HEIGHT = 80, 24
"""The least columns and lines that playing needs."""
LARGE = 128, 32
"""The least columns and lines with the large board and every action on a line of its own."""
REWARD_LINES = len(COMPONENTS) + 2
"""Of the whole table of rewards."""

MOVES_AT = 7
"""The line of the numbers beside the compact board in which the moves begin."""

_ROWS = 8
"""Of the columns in which siphon and programs stand where there is little room."""
_COLUMN = 27
_NOTE = 11
_SPENT = "yellow"


def title(session: Session, pace: str, width: int) -> Text:
    """Which game it is and what is going on, and the keys that help on, in one line."""
    game = session.game
    doing, keys = "", "? help  Tab look ahead  q leave"
    if session.is_looking:
        doing, keys = ": looking ahead", "Enter play it  Tab back  ? help"
    elif session.agent_plays:
        doing, keys = f", the agent plays, {pace}", "Space take over  ? help  q leave"
    elif game.ending:
        doing, keys = f": {game.ending}", "N next game  ? help  q leave"
    elif session.has_agent:
        keys = "? help  Tab look ahead  Space agent  q leave"
    told = f"game {game.seed}, step {len(game.turns)}{doing}"
    room = width - len(told) - 2
    shown = keys if len(keys) <= room else "? help"
    return Text.assemble((told, "bold reverse" if session.is_looking else "bold"), shown.rjust(width - len(told)))


def board(session: Session, *, large: bool) -> Text:
    """The board: 26 lines of 69 columns, or 13 lines of 56."""
    model = session.shown.board
    return _text(board_lines(model) if large else compact.compact_lines(model))


def status(session: Session, *, large: bool) -> Text:
    """The numbers: three lines below the large board, or 13 lines of 24 columns beside the other, with the moves."""
    game = session.shown
    model, step, episode = game.board, f"step {_sum(game.position.components)}", f"episode {_sum(game.earned)}"
    if large:
        first = [spans.stage(model), spans.hp(model), spans.attack(model), [(step, "")]]
        second = [spans.held(model), spans.siphons(model), spans.score(model), [(episode, "bold")]]
        return _text([_joined(first), _joined(second), _joined([spans.next_spawn(model), _flags(session)])])
    return _text(
        [
            spans.stage(model),
            _joined([spans.hp(model), spans.score(model)]),
            spans.held(model),
            spans.siphons(model),
            spans.attack(model),
            spans.next_spawn(model),
            _flags(session),
            *(
                _marked(session, move, [_sign(session, move), _name(move), _note(session, move)])
                for move in range(len(MOVES))
            ),
            [(step, "")],
            [(episode, "bold")],
        ]
    )


def actions(session: Session, *, large: bool) -> Text:
    """Every action with its key, its cost and whether it is valid: all 28 in a column, or three columns without moves.

    Where there is much room the reason against an action has the rules' ids.
    """
    if large:
        return _text([_entry(session, action, large=True) for action in range(NUM_ACTIONS)])
    entries = [_entry(session, action, large=False) for action in range(SIPHON, NUM_ACTIONS)]
    return _text([_joined(entries[row::_ROWS], 1) for row in range(_ROWS)])


def action_at(column: int, line: int, *, large: bool) -> int | None:
    """The action that stands in this place of ``actions``; None where there is none."""
    action = line if large else SIPHON + line + _ROWS * (column // _COLUMN)
    return action if action < NUM_ACTIONS and (large or line < _ROWS) else None


def notice(session: Session) -> Text:
    """What is said to the player: two lines at most."""
    said = session.notice
    style = BAD if said.is_refusal else "cyan" if session.glance else ""
    return _text([[(line, style)] for line in said.lines])


def rewards(game: Game) -> Text:
    """All 15 components of the last step and of the episode, and their sums: 17 lines of 40 columns."""
    rows = zip(COMPONENTS, game.position.components, game.earned, strict=True)
    shown = [_reward(name, step, episode, "" if episode or step else FAINT) for name, step, episode in rows]
    total = _reward("total", sum(game.position.components), sum(game.earned), "bold")
    return _text([[(f"{'reward':<20}{'step':>9}{'episode':>11}", "bold")], *shown, total])


def log(game: Game, last: int | None = None) -> Text:
    """What was done, step by step; only the last ones where a number is given."""
    numbered = list(enumerate(game.turns, start=1))[-last if last else 0 :]
    lines = [sayings.turn_line(number, turn) for number, turn in numbered] or ["nothing is done yet"]
    return Text("\n".join(lines))


def _text(lines: list[Line]) -> Text:
    text = Text(no_wrap=True, end="")
    for number, line in enumerate(lines):
        text.append("\n" if number else "")
        for span in line:
            text.append(*span)
    return text


def _joined(lines: list[Line], gap: int = 2) -> Line:
    parts = [line for line in lines if line]
    return [span for number, line in enumerate(parts) for span in ([(" " * gap, "")] * bool(number) + line)]


def _sum(components: Components) -> str:
    return sayings.signed(sum(components))


def _flags(session: Session) -> Line:
    """What of SHOW, CALM and STEP is on."""
    named = [(text.rstrip(), style) for text, style in spans.flags(session.shown.board)]
    return _joined([[flag] for flag in named if flag[0].endswith(" on")], 1)


def _entry(session: Session, action: int, *, large: bool) -> Line:
    cost = (f"{cost_text(*session.costs.get(action, (0, 0))):<6}", FAINT)
    return _marked(session, action, [_sign(session, action), _name(action), cost, _note(session, action, large=large)])


def _marked(session: Session, action: int, entry: Line) -> Line:
    """The entry of an action, reversed where it is the one that is looked at."""
    is_looked_at = session.glance is not None and session.glance.action == action
    return [(text, "reverse") for text, _ in entry] if is_looked_at else entry


def _sign(session: Session, action: int) -> Span:
    return f"{SIGNS[action]} ", "bold" if session.game.position.mask[action] else FAINT


def _name(action: int) -> Span:
    return f"{ACTIONS[action]:<7}", ""


def _note(session: Session, action: int, *, large: bool = False) -> Span:
    """Whether the action is valid now, and how likely the agent would take it; else what is against it."""
    against = obstacle(session.game.position.state, action, session.costs)
    if against is None:
        likely = f" {session.decision.probabilities[action]:4.0%}" if session.decision else ""
        return f"{f'ready{likely}':<{_NOTE}}", GOOD
    style = FAINT if against.brief == "not owned" else _SPENT
    return (str(against) if large else f"{against.brief:<{_NOTE}}"), style


def _reward(name: str, step: int, episode: int, style: str) -> Line:
    numbers = "".join(
        f"{f'{value / 1000:+.3f}' if value else '':>{width}}" for value, width in ((step, 9), (episode, 11))
    )
    return [(f"{name:<20}{numbers}", style)]
