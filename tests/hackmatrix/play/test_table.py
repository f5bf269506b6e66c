"""Looking ahead: what is seen comes true, and the game that is looked at stays as it is."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hackmatrix.rules import ACTIONS, NUM_ACTIONS
from hackmatrix.world import WORLD
from rlparity.core.guard import GuardedEngine
from rlworldkit.show.play.game import Position, Table
from tests.hackmatrix.rules.blocks import data
from tests.hackmatrix.rules.builders import rich
from tests.hackmatrix.rules.movers import coming, daemon, glitch, virus
from tests.hackmatrix.rules.tables import ACTION

SEEDS = st.integers(0, 2**64 - 1)


def course(random: np.random.Generator, table: Table, seed: int, steps: int) -> list[Position]:
    positions = [table.start(seed)]
    while len(positions) <= steps and positions[-1].mask.any():
        positions.append(table.play(int(random.choice(np.flatnonzero(positions[-1].mask)))))
    return positions


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.integers(0, 2**32 - 1), st.integers(0, 12))
def test_what_a_look_shows_is_what_playing_then_gives(table: Table, seed: int, choices: int, steps: int) -> None:
    random = np.random.default_rng(choices)
    here = course(random, table, seed, steps)[-1]
    seen = [table.look(int(action)) for action in np.flatnonzero(here.mask)]
    if seen:
        chosen = int(random.integers(len(seen)))
        played = table.play(int(np.flatnonzero(here.mask)[chosen]))
        assert played.state == seen[chosen].state
        assert played.components == seen[chosen].components
        np.testing.assert_array_equal(played.mask, seen[chosen].mask)
        np.testing.assert_array_equal(played.observation, seen[chosen].observation)


def test_a_look_leaves_the_game_alone_even_where_no_action_is_invalid(table: Table) -> None:
    """Then the game that is played is moved too, and must be put back."""
    engine = GuardedEngine(WORLD, "swift", 2)
    table = Table(WORLD, engine, table.panels)
    everything = rich(
        *(virus(2, 5), daemon(5, 2), glitch(4, 4), coming("virus", 0, 0, turns=3)),
        *(data(3, 3, points=4), data(4, 4, points=4)),
        hp=2,
        dataSiphons=1,
        owned=" ".join(ACTION),
        siphoned=((0, 5),),
        stage=2,
    )
    table.start(0)
    engine.set_state([{**everything, "history": everything}], np.array([0]))
    before = engine.get_state(np.array([0]))
    assert engine.mask()[0].all(), [ACTIONS[action] for action in np.flatnonzero(~engine.mask()[0])]
    for action in range(0, NUM_ACTIONS, 3):
        table.look(action)
        assert engine.get_state(np.array([0])) == before
    table.close()
