"""Rule marks: free when nobody collects them, complete when somebody does, and the game is the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array

from hackmatrix import jax_env
from hackmatrix.jax_env import marked
from hackmatrix.jax_env.batching import computed_once, repeat, run_if, where_wanted, while_loop
from hackmatrix.jax_env.marks import NAMES, collecting, note, packed

GAMES = jnp.arange(5)


def marking(games: Array) -> Array:
    """The games as they are; the mark fires in those above 2."""
    note(lambda: {"E9": games > 2})
    return games


def test_nothing_is_computed_when_nobody_collects() -> None:
    def fails() -> dict[str, Array]:
        raise AssertionError("a mark was asked for")

    note(fails)


def through_computed_once() -> Array:
    return computed_once(jnp.any(GAMES > 0), marking, GAMES)


def through_run_if() -> Array:
    return run_if(jnp.any(GAMES > 0), lambda: marking(GAMES), GAMES)


def through_while_loop() -> Array:
    def body(state: tuple[Array, Array]) -> tuple[Array, Array]:
        turn, games = state
        note(lambda: {"E9": (games > 2) & (turn == 1)})
        return turn + 1, games

    return while_loop(lambda state: state[0] < 3, body, (jnp.int32(0), GAMES))[1]


def through_repeat() -> Array:
    def body(turn: Array, games: Array) -> Array:
        note(lambda: {"E9": (games > 2) & (turn == 0)})
        return games

    return repeat(2, body, GAMES)


def through_where_wanted() -> Array:
    return where_wanted(GAMES > 1, marking, GAMES, GAMES, chunk=2)


@pytest.mark.parametrize(
    "through", [through_computed_once, through_run_if, through_while_loop, through_repeat, through_where_wanted]
)
def test_marks_come_out_of_loops_and_conditionals(through: object) -> None:
    assert callable(through)
    out, noted = jax.jit(collecting(through))()
    np.testing.assert_array_equal(out, GAMES)
    assert noted["E9"].tolist() == [False, False, False, True, True]
    np.testing.assert_array_equal(through(), GAMES)


def test_a_mark_that_is_noted_twice_fired_where_either_said_so() -> None:
    def twice() -> None:
        note(lambda: {"E9": GAMES == 0})
        note(lambda: {"E9": GAMES == 4})

    assert collecting(twice)()[1]["E9"].tolist() == [True, False, False, False, True]


def test_packed_marks_keep_the_order_of_their_names() -> None:
    row = packed({"B4": jnp.array([True])}, (1,))[0]
    assert {name for name, fired in zip(NAMES, row.tolist(), strict=True) if fired} == {"B4", "R5.below", "R5.distinct"}


@pytest.fixture(scope="module")
def start() -> jax_env.State:
    return jax.jit(jax.vmap(jax_env.reset))(jax_env.trainer_seeds(jnp.asarray(jax_env.seed_pair(3)), 64))


@pytest.mark.long  # the directed run of tests/lockstep holds the marked engine to the Swift one at every step
def test_collecting_changes_nothing_in_the_game(start: jax_env.State) -> None:
    plain, with_marks = jax.jit(jax.vmap(jax_env.step)), jax.jit(jax.vmap(marked.step))
    state = start
    for turn in range(12):
        actions = jnp.argmax(jax.vmap(jax_env.mask)(state) * ((jnp.arange(28) + 5 * turn) % 28 + 1), axis=-1)
        expected, result = plain(state, actions)
        observed, same_result, _ = with_marks(state, actions)
        jax.tree.map(np.testing.assert_array_equal, (expected, result), (observed, same_result))
        state = expected


@pytest.mark.long
def test_an_invalid_action_fires_what_refused_it_and_nothing_else(start: jax_env.State) -> None:
    fired = jax.jit(jax.vmap(marked.step))(start, jnp.full(64, 27))[2]
    for row in np.asarray(fired):
        assert {name for name, hit in zip(NAMES, row, strict=True) if hit} == {
            "C1.invalid",
            "C4.invalid",
            "M3.notOwned",
        }
