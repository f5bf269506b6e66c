"""The parts of the JAX engine that play seldom strains, and engines where these tests do not run: TPUs and GPUs."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array, export
from numpy.typing import NDArray
from reading_worlds import PAIRED

from goodharts.env import env_of
from goodharts.jax_env.placement import place
from goodharts.jax_env.rewards import total
from goodharts.jax_env.state import State, blank
from goodharts.jax_env.state_dict import flags
from goodharts.rules import MODES
from rlparity.threefry import seeds_of
from rlworldkit.bench.env import step_operations
from rlworldkit.jax.int64_pair import Int64Pair, to_int64
from rlworldkit.jax.threefry import EventDraws, Seed

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
    sums = np.concatenate(
        [np.arange(-2_000_000, 2_000_001), np.arange(-400_000_000, 400_000_000, 9_973)], dtype=np.int32
    )
    expected = sums.astype(np.float32) / np.float32(100_000)
    np.testing.assert_array_equal(jax.jit(partial(total, most=10**9))(jnp.asarray(sums)[:, None]), expected)


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (256, 256), (300, 400), (8000, 8000)])
def test_G3_any_number_of_items_is_placed_in_as_many_rounds_as_it_takes(counts: tuple[int, int]) -> None:
    keys, event = np.array([[5, 6], [7, 8]], np.uint32), np.array([0, 9], np.uint32)
    draws = EventDraws(Seed(*map(jnp.asarray, keys.T)), jnp.asarray(event))
    food, poison = (jnp.full(2, count, jnp.int32) for count in counts)
    episode = jax.jit(place)(draws, food, poison)
    words = np.asarray(draws.words(3, 100_000))
    for game in range(2):
        distinct = list(dict.fromkeys((words[:, game] >> 18).tolist()))
        items = sum(counts)
        assert np.flatnonzero(flags(episode.food)[game]).tolist() == sorted(distinct[: counts[0]])
        assert np.flatnonzero(flags(episode.poison)[game]).tolist() == sorted(distinct[counts[0] : items])
        assert int(episode.cell()[game]) == distinct[items]


def test_G13_a_game_takes_no_more_than_four_and_a_half_kilobytes() -> None:
    assert sum(leaf.nbytes for leaf in jax.tree.leaves(blank(1))) == 4140


def test_G10_games_under_nested_vmaps_are_those_of_the_reading() -> None:
    game, keys = env_of(MODES["ground_truth"]), np.arange(12, dtype=np.uint32).reshape(2, 3, 2)

    def played(seed: jax.Array) -> tuple[State, jax.Array]:
        def step(state: State, action: jax.Array) -> tuple[State, jax.Array]:
            after = game.step(state, action)
            return after.state, after.events["ate_food"]

        return jax.lax.scan(step, game.reset(seed), jnp.arange(150) % 7)

    after, ate_food = jax.device_get(jax.jit(jax.vmap(jax.vmap(played)))(keys))
    reading, slots = PAIRED["ground_truth"].engines["reading"](6), np.arange(6)
    reading.reset(seeds_of(keys.reshape(6, 2)), slots)
    events = [reading.step(np.full(6, number % 7, np.int32)).events for number in range(150)]
    assert np.array_equal(ate_food.reshape(6, 150).T, np.array(events) & 1)
    games = [jax.tree.map(lambda leaf, at=at: leaf[at], after) for at in np.ndindex(2, 3)]
    assert [game.to_dict(each) for each in games] == reading.get_state(slots)


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


ACCELERATORS = ("tpu", "cuda")
GAMES = 192
TRAINED, EVALUATED = env_of(MODES["ground_truth_handhold"]), env_of(MODES["proxy"], evaluating=True)
STATE, ACTIONS, SEEDS = blank(GAMES), np.zeros(GAMES, np.int32), np.zeros((GAMES, 2), np.uint32)


def test_an_engine_s_functions_are_lowered_for_accelerators_that_are_not_here() -> None:
    def functions(state: State, action: Array, seed: Array) -> Any:  # noqa: ANN401 - trees
        steps = TRAINED.step_autoreset(state, action), EVALUATED.step_autoreset(state, action)
        return steps, TRAINED.reset(seed), TRAINED.observe(state)

    lowered = export.export(jax.jit(jax.vmap(functions)), platforms=ACCELERATORS)(STATE, ACTIONS, SEEDS)
    assert lowered.platforms == ACCELERATORS
    assert all(result.dtype.itemsize <= 4 for result in lowered.out_avals)


def test_a_step_has_few_gathers_and_scatters_which_tpus_are_slow_at() -> None:
    found = step_operations(env_of(MODES["ground_truth"]))
    assert 0 < found["gather"] <= 18
    assert 0 < found["scatter"] <= 25
