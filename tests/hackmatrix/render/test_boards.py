"""A board in a terminal with its legend, what its picture does not give away, and a window."""

from typing import Any

import numpy as np
import pygame
import pytest
from numpy.typing import NDArray

from hackmatrix import jax_env
from hackmatrix.render.picture import cell_area, draw_picture
from hackmatrix.render.text import draw_text
from rlparity import State
from rlworldkit.render.window import Window
from tests.hackmatrix.rules.blocks import credits, data, energy, pickup, program, question
from tests.hackmatrix.rules.builders import state
from tests.hackmatrix.rules.engines import Entry
from tests.hackmatrix.rules.movers import CALLED, SCHEDULED, coming, cryptog, daemon, glitch, virus


def model(*entries: Entry, **fields: Any) -> State:  # noqa: ANN401 - fields of a state dict
    """A complete state with these entries and fields, the player in the middle unless said otherwise."""
    return jax_env.get_state(jax_env.set_state(state(*entries, **fields)))


def crowded() -> State:
    return model(
        *(virus(5, 0, hp=1, stunned=True, disabledTurns=2), cryptog(4, 0, lastKnownRow=4, lastKnownCol=4, **SCHEDULED)),
        *(cryptog(0, 2), glitch(3, 1, stunned=True), daemon(5, 5)),
        *(coming("daemon", 4, 1, turns=3), coming("virus", 0, 0, turns=1, **CALLED)),
        *(question(3, 0, points=4), program(3, 1, "anti-v"), data(3, 4, points=3, siphoned=True, spawnCount=0)),
        *(data(1, 1, points=9), program(2, 4, "warp")),
        *(pickup(0, 0), pickup(0, 5), credits(1, 1, 2), credits(3, 4, 3) | {"energy": 3}),
        *(credits(2, 0, 2), energy(0, 3, 1)),
        hp=2,
        credits=17,
        energy=9,
        dataSiphons=2,
        attackDamage=2,
        score=41,
        siphoned=((2, 3),),
        centres=((2, 3), (3, 4)),
        owned="hack warp",
        stage=7,
        turn=23,
        nextScheduledTaskTurn=28,
        stepActive=True,
    )


CROWDED = """
  ┌──────────┬──────────┬──────────┬──────────┬──────────┬──────────┐  stage 7 of 8, turn 23
  │  V1*~2   │          │          │          │          │    D3    │  hp ♥♥♡
5 │          │          │          │          │          │   EXIT   │  attack 2 of 3
  │          │          │          │          │          │          │  credits 17  energy 9
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  data siphons 2  score 41
  │    c2    │   >D3    │          │          │    c?    │          │  next spawn: turn 28
4 │          │          │          │          │          │          │  SHOW off CALM off STEP on
  │          │          │          │          │          │          │
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  2 programs
  │          │   G2*    │          │          │          │          │  WARP   HACK
3 │   [?]    │[ANTI-V]+4│          │          │  [3]+0   │          │
  │          │          │          │          │$3 e3 . o │          │
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤
  │          │          │    @     │          │          │          │
2 │          │          │          │          │ [WARP]+5 │          │
  │    $2    │          │          │   . o    │          │          │
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  @ player  V2 virus with 2 hp
  │          │          │          │          │          │          │  D daemon  G glitch  C cryptog
1 │          │  [9]+9   │          │          │          │          │  c2 hidden  c? last known cell
  │          │          │          │          │          │          │  * stunned ~3 disabled 3 turns
  ├──────────┼──────────┼──────────┼──────────┼──────────┼──────────┤  >D1 daemon comes in 1 turn
  │   >V1    │          │    C2    │          │          │          │  [7]+4 7 points, spawns 4
0 │    ds    │          │          │          │          │    ds    │  [WARP] program  [?] question
  │          │          │          │    e1    │          │          │  $2 credits  e3 energy
  └──────────┴──────────┴──────────┴──────────┴──────────┴──────────┘  ds data siphon to pick up
        0          1          2          3          4          5       . siphoned  o siphon's centre
"""


def words_of(text: str, row: int, col: int) -> list[str]:
    lines = text.splitlines()[1 + 4 * (5 - row) :][:3]
    return " ".join(line.split("│")[1 + col] for line in lines).split()


def test_a_board_with_everything_on_it() -> None:
    assert draw_text(crowded(), colour=False) == CROWDED.strip("\n")


def test_a_question_hides_what_it_holds_and_a_block_what_lies_under_it_until_it_is_siphoned() -> None:
    boards = [model(question(0, 0, **what)) for what in ({"points": 4}, {"points": 9}, {"program": "warp"})]
    assert [words_of(draw_text(board, colour=False), 0, 0) for board in boards] == [["[?]"]] * 3
    assert len({draw_text(board) for board in boards}) == 1
    for siphoned, words in ((False, ["[7]+7"]), (True, ["[7]+7", "$2", "."])):
        board = model(data(1, 1, points=7, siphoned=siphoned), credits(1, 1, 2))
        assert words_of(draw_text(board, colour=False), 1, 1) == words


DATA = data(4, 4)


def changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> NDArray[np.bool_]:
    return np.any(before != after, axis=-1)


def test_o4_a_hidden_cryptog_is_fainter_than_one_in_sight_and_its_last_known_cell_is_marked() -> None:
    hidden = cryptog(4, 4, lastKnownRow=0, lastKnownCol=0)
    floor, faint, clear = (
        draw_picture(board)[cell_area(4, 4)].astype(int)
        for board in (model(), model(hidden), model(hidden, showActivated=True))
    )
    assert 0 < np.abs(faint - floor).sum() < np.abs(clear - floor).sum() / 2
    first, second = (draw_picture(model(cryptog(4, 4, lastKnownRow=0, lastKnownCol=col))) for col in (0, 1))
    assert changed(first, second)[cell_area(0, 0)].any()
    assert changed(first, second)[cell_area(0, 1)].any()


def test_o4_what_a_question_holds_and_what_a_block_covers_is_not_drawn() -> None:
    held = ({"points": 4}, {"points": 9}, {"program": "warp"})
    questions = [draw_picture(model(question(4, 4, **what))) for what in held]
    assert all(np.array_equal(questions[0], other) for other in questions)
    assert np.array_equal(draw_picture(model(DATA, credits(4, 4, 1))), draw_picture(model(DATA)))


def test_a_person_may_close_a_window_which_is_seen_at_once_and_it_stays_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a display that SDL only pretends to have."""
    pygame.display.quit()
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    picture = pygame.Surface((30, 20))
    for shows_again in (False, True):
        window = Window("a world", 1000)
        window.show(picture)
        pygame.event.post(pygame.event.Event(pygame.QUIT))
        if shows_again:
            window.show(picture)
        assert not window.is_open
    window.show(picture)
    assert (window.is_open, pygame.display.get_init()) == (False, False)
