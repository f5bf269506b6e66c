"""The parts of the JAX engine that play seldom strains, and its one way of counting no step (G3, G5, G6, G9, G10)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from numpy.typing import NDArray
from reading_worlds import PAIRED

from goodharts.env import env_of
from goodharts.jax_env import grid
from goodharts.jax_env.placement import place
from goodharts.jax_env.rewards import total
from goodharts.jax_env.state import State, blank
from goodharts.jax_env.state_dict import flags
from goodharts.rules import MODES, NUM_CELLS
from rlworldkit.jax.int64_pair import Int64Pair, to_int64
from rlworldkit.jax.threefry import Draws, Seed

EDGES = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62]
NUMBERS = np.array([sign * edge + by for edge in EDGES for sign in (1, -1) for by in (-1, 0, 1)], np.int64)
ADDED = np.array([0, 1, -1, 10, -10, 990, -2010, 2**31 - 1, -(2**31)], np.int32)


def wide(numbers: NDArray[np.int64]) -> Int64Pair:
    words = numbers.view(np.uint32).reshape(*numbers.shape, 2)
    return Int64Pair(jnp.asarray(words[..., 0]), jnp.asarray(words[..., 1]))


def test_G5_energy_without_a_cap_is_counted_in_two_words() -> None:
    sums = wide(NUMBERS[:, None]).plus(jnp.asarray(ADDED)[None])
    np.testing.assert_array_equal(to_int64(np.stack(sums, axis=-1)), NUMBERS[:, None] + ADDED)
    np.testing.assert_array_equal(wide(NUMBERS).is_positive(), NUMBERS > 0)
    for number in (0, 512, 2**31):
        np.testing.assert_array_equal(wide(NUMBERS).is_at_least(number), np.greater_equal(NUMBERS, number))


def test_G9_every_reward_is_a_whole_number_divided_and_rounded_once() -> None:
    sums = np.arange(-2_000_000, 2_000_001, dtype=np.int32)
    expected = sums.astype(np.float32) / np.float32(100_000)
    np.testing.assert_array_equal(jax.jit(total)(jnp.asarray(sums)[:, None]), expected)


@pytest.mark.parametrize("cells", [[0], [31, 32], [16_383], [511 * 32, 16_383], [70, 64, 95]])
def test_G5_the_lowest_cell_of_a_set(cells: list[int]) -> None:
    held = np.zeros(NUM_CELLS, np.uint8)
    held[cells] = 1
    plane = jnp.asarray(np.packbits(held, bitorder="little").view(np.uint32))[None]
    assert int(grid.lowest(plane)[0]) == min(cells)
    assert np.flatnonzero(flags(plane)[0]).tolist() == np.flatnonzero(grid.flags(plane)[0]).tolist() == sorted(cells)


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (256, 256), (300, 400), (8000, 8000)])
def test_G3_any_number_of_items_is_placed_in_as_many_rounds_as_it_takes(counts: tuple[int, int]) -> None:
    keys, event = np.array([[5, 6], [7, 8]], np.uint32), np.array([0, 9], np.uint32)
    draws = Draws(Seed(*map(jnp.asarray, keys.T)), jnp.asarray(event))
    food, poison = (jnp.full(2, count, jnp.int32) for count in counts)
    episode = jax.jit(place)(draws, food, poison)
    words = np.asarray(draws.words(3, 100_000))
    for game in range(2):
        distinct = list(dict.fromkeys((words[:, game] >> 18).tolist()))
        items = sum(counts)
        assert np.flatnonzero(flags(episode.food)[game]).tolist() == sorted(distinct[: counts[0]])
        assert np.flatnonzero(flags(episode.poison)[game]).tolist() == sorted(distinct[counts[0] : items])
        assert int(episode.cell[game]) == distinct[items]


def test_G13_a_game_takes_no_more_than_four_and_a_half_kilobytes() -> None:
    assert sum(leaf.nbytes for leaf in jax.tree.leaves(blank(1))) == 4140


def test_G10_a_game_alone_and_under_nested_vmaps_is_the_same() -> None:
    game = env_of(MODES["ground_truth"])
    keys = np.arange(12, dtype=np.uint32).reshape(2, 3, 2)

    def played(seed: jax.Array) -> tuple[State, jax.Array]:
        def step(state: State, action: jax.Array) -> tuple[State, jax.Array]:
            after = game.step(state, action)
            return after.state, after.events["ate_food"]

        return jax.lax.scan(step, game.reset(seed), jnp.arange(150) % 7)

    alone = jax.jit(played)
    nested = jax.tree.leaves(jax.jit(jax.vmap(jax.vmap(played)))(keys))
    for at in np.ndindex(2, 3):
        for one, beside in zip(jax.tree.leaves(alone(keys[at])), nested, strict=True):
            np.testing.assert_array_equal(one, beside[at])


@pytest.mark.long
def test_no_step_copies_the_grids_of_all_games() -> None:
    games, game = 4096, env_of(MODES["ground_truth_handhold"])

    def played(state: State, actions: jax.Array) -> tuple[State, jax.Array]:
        def step(state: State, action: jax.Array) -> tuple[State, jax.Array]:
            state = jax.vmap(game.step_autoreset)(state, action).state
            return state, jax.vmap(game.observe)(state).sum(axis=(1, 2, 3))

        return jax.lax.scan(step, state, actions)

    state = blank(games)
    program = jax.jit(played).lower(state, jnp.zeros((8, games), jnp.int32)).compile()
    memory = program.memory_analysis()
    assert memory is not None
    assert memory.temp_size_in_bytes < state.food.nbytes


@pytest.mark.parametrize("engine", ["torch", "jax"])
def test_G6_a_step_that_means_nothing_to_a_game_is_not_counted(engine: str) -> None:
    world = PAIRED["ground_truth"]
    resting, other = (world.engines[engine](3) for _ in range(2))
    slots = np.arange(3)
    for each in (resting, other):
        each.reset(world.game_seeds(5, 3), slots)
        each.step(np.zeros(3, np.int32))
    resting.rest(np.array([1]))
    resting.step(np.zeros(3, np.int32))
    resting.reset(world.game_seeds(9, 1), np.array([2]))  # what begins elsewhere changes nothing about it
    for each in (resting, other):
        each.restart(np.array([1]))
    assert resting.get_state(np.array([1])) == other.get_state(np.array([1]))
    assert resting.get_state(np.array([0])) != other.get_state(np.array([0]))
