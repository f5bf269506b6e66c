"""The boards on which a step is measured are what their names say."""

import numpy as np

from hackmatrix.bench import boards
from hackmatrix.jax_env import State

DIFFERENT, GAMES = 16, 19


def enemies(states: State) -> list[int]:
    """How many there are in each game."""
    counts: np.ndarray = sum(np.bitwise_count(np.asarray(half)).astype(int) for half in states.now.enemies)
    return counts.tolist()


def test_boards_have_so_many_enemies_or_lie_in_the_midst_of_their_stage(swift_built: None) -> None:
    found = dict(boards.boards(GAMES, DIFFERENT))
    assert list(found) == [
        *(f"enemies_{count}" for count in boards.ENEMY_COUNTS),
        *(f"stage_{stage}" for stage in boards.STAGES),
    ]
    for count in boards.ENEMY_COUNTS:
        assert enemies(found[f"enemies_{count}"]) == [count] * GAMES
    for stage in boards.STAGES:
        now = found[f"stage_{stage}"].now
        assert set(np.asarray(now.stage).tolist()) == {stage}
        assert (np.asarray(now.hp) > 0).all()
        assert (np.asarray(now.turn) > 0).all()


def test_more_games_than_boards_play_them_again(swift_built: None) -> None:
    _, states = next(boards.boards(GAMES, DIFFERENT))
    seeds = np.asarray(states.seed.low)
    assert len(set(seeds.tolist())) == DIFFERENT
    np.testing.assert_array_equal(seeds[-3:], seeds[:3])
