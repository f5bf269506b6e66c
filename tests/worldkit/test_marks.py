"""Marks: free when nobody collects them, and complete through loops and conditionals when somebody does."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from worldkit.jax.batching import computed_once, repeat, run_if, where_wanted, while_loop
from worldkit.jax.marks import collecting, mark, packed

GAMES = jnp.arange(5)
NAMES = ("walked", "fell", "rose")


def marking(games: Array) -> Array:
    """The games as they are; the mark fires in those above 2."""
    mark("fell", lambda: games > 2)
    return games


def test_nothing_is_computed_when_nobody_collects() -> None:
    def fails() -> Array:
        raise AssertionError("a mark was asked for")

    mark("fell", fails)


def through_while_loop() -> Array:
    def body(state: tuple[Array, Array]) -> tuple[Array, Array]:
        turn, games = state
        mark("fell", lambda: (games > 2) & (turn == 1))
        return turn + 1, games

    return while_loop(lambda state: state[0] < 3, body, (jnp.int32(0), GAMES))[1]


def through_repeat() -> Array:
    def body(turn: Array, games: Array) -> Array:
        mark("fell", lambda: (games > 2) & (turn == 0))
        return games

    return repeat(2, body, GAMES)


THROUGH: dict[str, Callable[[], Array]] = {
    "computed_once": lambda: computed_once(jnp.any(GAMES > 0), marking, GAMES),
    "run_if": lambda: run_if(jnp.any(GAMES > 0), lambda: marking(GAMES), GAMES),
    "while_loop": through_while_loop,
    "repeat": through_repeat,
    "where_wanted": lambda: where_wanted(GAMES > 1, marking, GAMES, GAMES, chunk=2),
}


@pytest.mark.parametrize("through", THROUGH.values(), ids=THROUGH)
def test_marks_come_out_of_loops_and_conditionals(through: Callable[[], Array]) -> None:
    out, marks = jax.jit(collecting(through))()
    np.testing.assert_array_equal(out, GAMES)
    assert marks["fell"].tolist() == [False, False, False, True, True]
    np.testing.assert_array_equal(through(), GAMES)


def test_a_mark_that_is_set_twice_fired_where_either_said_so() -> None:
    def twice() -> None:
        mark("fell", lambda: GAMES == 0)
        mark("fell", lambda: GAMES == 4)

    assert collecting(twice)()[1]["fell"].tolist() == [True, False, False, False, True]


def test_packed_marks_keep_the_order_of_their_names() -> None:
    marks = {"rose": jnp.array([True, False]), "walked": jnp.array([False, True])}
    assert packed(marks, NAMES, (2,)).tolist() == [[False, False, True], [True, False, False]]


def test_a_mark_that_nobody_counts_is_refused() -> None:
    with pytest.raises(ValueError, match="flew"):
        packed({"flew": jnp.array(True)}, NAMES, ())
