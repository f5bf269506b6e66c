"""The same games as Swift's whatever JAX is told about how to run them: jit, width of the batch, marks, 64 bits."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import jax_env
from hackmatrix.jax_env.state import BLANK_STATE
from hackmatrix.world import open_jax
from rlparity.testing import assert_lockstep
from tests.hackmatrix.rules.blocks import data
from tests.hackmatrix.rules.builders import state
from tests.hackmatrix.rules.movers import coming, cryptog, virus

FEW, MANY = 8, 64
"""The widths whose programs other tests use: without marks, and with marks."""
GAMES = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((FEW, *leaf.shape), leaf.dtype), BLANK_STATE)
ACTIONS = jax.ShapeDtypeStruct((FEW,), np.int32)


@pytest.mark.long
def test_steps_depend_neither_on_jit_nor_on_64_bit_mode() -> None:
    """Un-jitted steps are slow, so three of them, from a state in which much happens; the last makes a stage."""
    start = state(
        *(virus(5, 2), cryptog(0, 3, hp=1), coming("glitch", 4, 4, turns=1), data(1, 1)),
        player=(1, 0),
        exit=(0, 0),
        credits=9,
        energy=9,
        dataSiphons=1,
        owned="poly",
        pendingSiphonTransmissions=2,
        seed=5,
    )
    jitted = open_jax(1)
    only = np.zeros(1, np.intp)
    jitted.set_state([start], only)
    actions = (9, 4, 1)
    # before the switches are set, which hold for every program called within
    played = [(jitted.step(np.array([action], np.int32)), jitted.get_state(only)[0]) for action in actions]
    with jax.enable_x64(True), jax.disable_jit():
        game = jax_env.set_state(start)
        for action, (expected, after) in zip(actions, played, strict=True):
            game, result = jax_env.step(game, jnp.int32(action))
            assert jax_env.get_state(game) == after
            components = jax_env.components(result.counts, jax_env.PRICES)
            np.testing.assert_array_equal(components, expected.components[0])
            assert bool(result.terminated) is bool(expected.terminated[0])
        assert bool(result.stage_complete)


@pytest.mark.long
def test_a_program_is_the_same_in_64_bit_mode_and_its_arrays_of_64_bits_are_sets_of_cells() -> None:
    traced = jax.jit(jax.vmap(jax_env.step_auto_reset)).trace(GAMES, ACTIONS)
    program = str(traced.jaxpr)
    wide = set(re.findall(r"\b[a-z]+64\[\d[^]]*\]", program))
    assert {array.partition("[")[0] for array in wide} == {"u64"}
    after, result, last = traced.out_info
    assert jax.tree.map(lambda leaf: leaf.dtype, (after, last)) == jax.tree.map(lambda leaf: leaf.dtype, (GAMES, GAMES))
    assert max(leaf.dtype.itemsize for leaf in jax.tree.leaves(result)) == 4
    with jax.enable_x64(True):
        assert str(jax.jit(jax.vmap(jax_env.step_auto_reset)).trace(GAMES, ACTIONS).jaxpr) == program


def test_a_step_that_was_begun_is_not_taken_for_another() -> None:
    """Whoever was interrupted between the halves of a step may come back with another action."""
    asked, interrupted = open_jax(1), open_jax(1)
    for engine in (asked, interrupted):
        engine.reset(np.zeros(1, np.uint64), np.arange(1))
    valid = asked.mask()
    interrupted.begin_step((~valid).argmax(axis=1).astype(np.int32), restarting=False)
    wanted = valid.argmax(axis=1).astype(np.int32)
    shown, expected = (engine.step(wanted) for engine in (interrupted, asked))
    np.testing.assert_array_equal(shown.observation, expected.observation)
    assert interrupted.get_state(np.arange(1)) == asked.get_state(np.arange(1))


def test_uniform_games_that_restart_by_themselves_are_the_same(swift_built: None) -> None:
    # from the last seeds of 64 bits on to the first ones
    outcome = assert_lockstep("hackmatrix", steps=80, games=FEW, seed=2**64 - FEW // 2, auto_reset=True)
    assert outcome.steps == 80 * FEW
    assert outcome.episodes > FEW


@pytest.mark.long
@pytest.mark.parametrize("auto_reset", [False, True])
def test_games_of_which_some_alone_get_a_stage_are_the_same(auto_reset: bool, swift_built: None) -> None:
    """More games than get one together."""
    assert_lockstep("hackmatrix", steps=60, games=300, seed=5, auto_reset=auto_reset)
