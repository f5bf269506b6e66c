"""Games of Orchard, the toy world, as episodes of a page."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from orchard.plain import PlainEngine
from orchard.world import APPLE, draw_board
from orchard.world import WORLD as BARE

from rlparity.core.compare import Difference
from rlparity.viewer.page import Curve, End, Page, PageDecision, PageEpisode, PageStep

WORLD = replace(
    BARE,
    row_names=("D", "C", "B", "A"),
    colour_of={"W": (94, 224, 214), "w": (246, 160, 78)}.get,
    signs={"W": "walker", "w": "wasp", APPLE * 2: "apple, two days ripe"},
)
LENGTH = 12
"""Actions of every game."""


def steps(seed: int, length: int = LENGTH) -> Iterator[PageStep]:
    """A game of drawn actions that goes on for just so long: whoever has died or is done begins another."""
    engine, only = PlainEngine(1), np.zeros(1, np.intp)
    drawn = np.random.default_rng(seed)
    engine.reset(np.array([seed], np.uint64), only)
    yield PageStep("start", (draw_board(engine.get_state(only)[0]),))
    for number in range(length):
        valid = np.flatnonzero(engine.mask()[0])
        action = int(drawn.choice(valid))
        shares = {WORLD.actions[other]: (0.75 if other == action else 0.25 / (len(valid) - 1)) for other in valid}
        step = engine.step(np.array([action], np.int32))
        if step.terminated[0]:
            engine.restart(only)
        board = draw_board(engine.get_state(only)[0])
        earned = tuple(step.components[0].tolist())
        yield PageStep(WORLD.actions[action], (board,), (earned,), PageDecision(shares, number / 8))


ENDS = [
    End("stage 1", "wasp", 0, 1),
    End("stage 1", "wasp", 3, 3),
    End("stage 2", "wasp", 0, 1),
    End("stage 2", "two wasps", 0, 1),
    End("stage 10", "step limit", 2, 2),
    None,
]


def episode(number: int) -> PageEpisode:
    """Game ``number``; it ends as the list above says, in turn."""
    end = ENDS[number % len(ENDS)]
    verdict = f"ended by {end.cause}" if end else "left"
    return PageEpisode(f"seed {number}", verdict, steps(number, LENGTH + number), end)


def page(games: int, curves: tuple[Curve, ...] = ()) -> Page:
    """A page of some games."""
    episodes = (episode(number) for number in range(games))
    return Page("A walker among wasps", ("plain",), episodes, ("Drawn actions.",), "orchard view --episodes 6", curves)


CURVES = (
    Curve("return", (0, 1000, 2000, 3000), (-1.5, 0.25, float("nan"), 4.0)),
    Curve("entropy", (0, 1000, 2000, 3000), (2.0, 1.0, 0.5, 0.25)),
)


def divergence() -> Page:
    """Two sides that part at step 3: in a cell, in a value, in a component and in a mark."""
    *shown, last = (replace(step, boards=step.boards * 2) for step in steps(7, 3))
    shown = [replace(step, components=step.components and step.components * 2) for step in shown]
    board, _ = last.boards
    rows = [list(row) for row in board.rows]
    rows[1][2] = "w ●"
    other = replace(board, rows=tuple(map(tuple, rows)), scalars={**board.scalars, "hp": 99})
    parted = replace(
        last,
        boards=(board, other),
        components=((-10, 0, 0), (-10, 0, -500)),
        differences=(Difference("state.hp", board.scalars["hp"], 99), Difference("components[sting]", 0, -500)),
        marks=(("move",), ("move", "sting")),
    )
    alone = PageEpisode("seed 7", "3 actions", [*shown, parted])
    return Page(
        "plain and other differ after 3 actions.", ("plain", "other"), (alone,), ("World orchard.",), "rlparity …"
    )
