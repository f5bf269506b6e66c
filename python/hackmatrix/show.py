"""Display of HackMatrix for watch, play and view: ``SHOW``, and the screen of a player."""

import re
from collections.abc import Iterator
from pkgutil import resolve_name

from hackmatrix.cells import is_dead, is_won, owned_programs
from hackmatrix.explain.actions import NOT_OWNED, cost_text, costs_of, obstacle
from hackmatrix.explain.transition import LEFT, STEP_LIMIT, StateTransition, ending
from hackmatrix.render.text import LEGEND, board_lines, compact_lines, draw_text, numbers
from hackmatrix.rules import MOVES, NUM_STAGES, PLAYER_NUMBERS, PROGRAMS, SIZE
from hackmatrix.score import WON
from hackmatrix.world import rules_of
from rlparity import State, World
from rlparity.viewer.page import End
from rlworldkit.evaluation.play import TRUNCATED
from rlworldkit.render.panels import LEAVE, Obstacle, Panels
from rlworldkit.render.show import Show
from rlworldkit.render.spans import Line, joined

_SIPHON = "s"
_LETTERS = [letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in (_SIPHON, LEAVE)]


class HackMatrixPanels(Panels):
    """The board in 13 lines of 56 columns, or in 26 of 69, with costs from the tables of the playing engine."""

    hint = "arrows move and attack, s siphons, the letter beside a program runs it"
    beside = len(MOVES)
    usual = NOT_OWNED
    large_size = 128, 32
    keys = (*MOVES, _SIPHON, *_LETTERS[: len(PROGRAMS)])
    legend = LEGEND

    def __init__(self, world: World, engine: str) -> None:
        super().__init__(world, engine)
        self._costs = costs_of(rules_of(engine))

    def board(self, state: State, *, large: bool) -> list[Line]:
        return board_lines(state) if large else compact_lines(state)

    def numbers(self, state: State, *, large: bool) -> list[list[Line]]:
        stage, hp, attack, held, siphons, score, spawn, flags = numbers(state).values()
        flags = joined([[(text.rstrip(), style)] for text, style in flags if text.rstrip().endswith(" on")], 1)
        if large:
            return [[stage, hp, attack], [held, siphons, score], [spawn, flags]]
        return [[stage], [hp, score], [held], [siphons], [attack], [spawn], [flags]]

    def cost(self, action: int) -> str:
        return cost_text(*self._costs.get(action, (0, 0)))

    def obstacle(self, state: State, action: int) -> Obstacle | None:
        return obstacle(state, action, self._costs)

    def changes(self, before: State, after: State) -> Iterator[str]:
        if is_won(after) or is_dead(after):
            yield "you win" if is_won(after) else "you die"
        was, now = ({**state, **state["player"]} for state in (before, after))
        values = [
            (re.sub("([A-Z])", r" \1", word).lower(), was[word], now[word]) for word in (*PLAYER_NUMBERS, "stage")
        ]
        values += [(name, len(before[name]), len(after[name])) for name in ("enemies", "transmissions")]
        yield from (f"{name} {old} → {new}" for name, old, new in values if old != new)
        owned, owns = owned_programs(before), owned_programs(after)
        yield from (f"+{name}" for name in owns if name not in owned)
        yield from (f"-{name}" for name in owned if name not in owns)


def _end(before: State, after: State, action: int, how: str | None) -> tuple[End, str]:
    """The end of a game at its drawn cell, row 0 on top (A1: at the bottom), and the killers of the player, if any."""
    ended = ending(StateTransition(before, after, action), STEP_LIMIT if how == TRUNCATED else LEFT)
    row, column = ended.place
    origin = ", from a siphon" if ended.from_siphon else ""
    end = End(level=f"stage {ended.stage}", cause=ended.cause, row=SIZE - 1 - row, column=column)
    return end, f": {ended.cause}{origin}" if ended.attackers else ""


SHOW = Show(
    text=draw_text,
    picture=lambda state: resolve_name("hackmatrix.render.picture:draw_picture")(state),
    victory=WON,
    progress=lambda state: f" in stage {min(state['stage'], NUM_STAGES)}",
    end=_end,
    panels=HackMatrixPanels,
)
