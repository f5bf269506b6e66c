"""The rules by their ids, on the canonical engine and on the plain-Python reading."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry_2x32
from numpy.typing import NDArray
from reading_worlds import SIMILAR, world_of
from single_games import ENGINES, cell_at, full, made, open_game, open_games, play

from goodharts.rules import ACTIONS, MODES, NUM_CELLS
from goodharts.world import WORLDS
from rlparity import State
from rlparity.core.prices import price_values
from rlparity.views import AutoResetBatch

UP_LEFT, LEFT, DOWN_LEFT, UP, DOWN, UP_RIGHT, RIGHT, DOWN_RIGHT = range(8)
REAPPEAR = 4

EVERY_MODE = pytest.mark.parametrize(
    ("engine", "mode"),
    [
        pytest.param(engine, mode, marks=pytest.mark.long if engine == "jax" and mode in SIMILAR else ())
        for engine in ENGINES
        for mode in MODES
    ],
)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def drawn_cells(state: State, event: int) -> list[int]:
    """The cells of the 64 draws by which something reappears, as JAX's own Threefry gives the words (G10)."""
    addresses = REAPPEAR * 65536 + jnp.arange(32, dtype=jnp.uint32)
    counters = jnp.concatenate([jnp.full(32, event, jnp.uint32), addresses])
    both = np.asarray(threefry_2x32(jnp.array(state["key"], jnp.uint32), counters)).reshape(2, 32)
    return (both.T.flatten() >> 18).tolist()


# --- the world


@pytest.mark.parametrize(
    ("x", "y", "action", "expected"),
    [(0, 5, LEFT, (127, 5)), (127, 5, RIGHT, (0, 5)), (5, 0, UP, (5, 127)), (5, 127, DOWN, (5, 0))],
)
def test_G1_the_grid_is_a_torus(engine: str, x: int, y: int, action: int, expected: tuple[int, int]) -> None:
    after = play(engine, made(x, y), action).state
    assert (after["x"], after["y"]) == expected


def test_G1_x_is_the_column_and_y_the_row(engine: str) -> None:
    state = {**made(3, 2), "food": [128 * 2 + 4], "foodCount": 1}
    assert "food" in play(engine, state, RIGHT).rewards


def test_G2_each_game_has_its_own_grid_and_agents_are_not_on_it(engine: str) -> None:
    games = open_games(engine, 3)
    games.reset(5)
    before = games.get_state()
    assert len({tuple(state["food"]) for state in before}) == 3
    games.set_state([made(food=[(1, 0)])], [1])
    games.step([RIGHT, RIGHT, RIGHT])
    after = games.get_state()
    assert [after[game]["food"] for game in (0, 2)] == [before[game]["food"] for game in (0, 2)]
    for state in after:
        assert cell_at(state["x"], state["y"]) not in {*state["food"], *state["poison"]}


# --- a step


@pytest.mark.parametrize(
    ("action", "move"),
    list(enumerate([(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)])),
    ids=ACTIONS,
)
def test_G4_actions_are_the_kings_moves(engine: str, action: int, move: tuple[int, int]) -> None:
    after = play(engine, made(50, 60), action).state
    assert (after["x"], after["y"]) == (50 + move[0], 60 + move[1])


@pytest.mark.parametrize(
    ("ahead", "energy", "left", "dies"),
    [
        ("nothing", 1000, 990, False),
        ("nothing", 11, 1, False),
        ("nothing", 10, 0, True),
        ("nothing", 9, -1, True),
        ("food", 1000, 1990, False),
        ("food", 1, 991, False),
        ("food", -990, 0, True),
        ("food", 10**12, 10**12 + 990, False),
        ("poison", 2011, 1, False),
        ("poison", 2010, 0, True),
        ("poison", 1000, -1010, True),
    ],
)
def test_G5_energy_is_spent_then_eaten_and_at_0_it_is_over(
    engine: str, ahead: str, energy: int, left: int, dies: bool
) -> None:
    items: dict[str, Any] = {} if ahead == "nothing" else {ahead: [(1, 0)]}
    outcome = play(engine, made(energy=energy, **items), RIGHT)
    assert (outcome.state["energy"], outcome.terminated, outcome.truncated) == (left, dies, False)
    assert outcome.state["steps"] == outcome.state["event"] == 1


@pytest.mark.parametrize(
    ("steps", "energy", "ended"),
    [(510, 1000, (False, False)), (511, 1000, (False, True)), (511, 10, (True, True)), (600, 1000, (False, True))],
)
def test_G5_truncated_at_512_steps_perhaps_at_the_moment_of_death(
    engine: str, steps: int, energy: int, ended: tuple[bool, bool]
) -> None:
    outcome = play(engine, made(steps=steps, energy=energy), UP)
    assert (outcome.terminated, outcome.truncated) == ended


def test_G5_frozen_energy_never_changes_and_nobody_dies_of_it(engine: str) -> None:
    for energy in (1000, 0, -5):
        outcome = play(engine, made(energy=energy, poison=[(1, 0), (2, 0)], food=[(3, 0)]), *[RIGHT] * 4, mode="proxy")
        assert (outcome.state["energy"], outcome.terminated, outcome.truncated) == (energy, False, False)
    assert play(engine, made(steps=511, energy=0), RIGHT, mode="proxy").truncated


@pytest.mark.parametrize("taken", [0, 1, 2, 63])
@pytest.mark.parametrize("kind", ["food", "poison"])
def test_G5_what_is_eaten_reappears_where_the_first_draw_says_that_hits_nothing(
    engine: str, kind: str, taken: int
) -> None:
    ahead: Any = {kind: [(1, 0)]}
    state, other = made(event=41, energy=9000, **ahead), {"food": "poison", "poison": "food"}[kind]
    draws = drawn_cells(state, 42)
    there = sorted(set(draws[:taken]) - set(draws[taken:]))
    after = play(engine, {**state, other: there, f"{other}Count": len(there)}, RIGHT).state
    assert (after[kind], after[other]) == ([draws[taken]], there)


def test_G5_nothing_reappears_under_the_agent(engine: str) -> None:
    draws = drawn_cells(made(), 1)
    y, x = divmod(draws[0], 128)
    state = {**made(x - 1, y), "food": [draws[0]], "foodCount": 1}
    assert play(engine, state, RIGHT).state["food"] == [draws[1]]


@pytest.mark.parametrize("free", [[0, 9], [9, 16_383], []])
def test_G5_where_no_draw_finds_an_empty_cell_the_lowest_is_taken(engine: str, free: list[int]) -> None:
    state = full(made(food=[(1, 0)]), but=free)
    assert not set(free) & set(drawn_cells(state, 1)), "the draws of this key hit none of these"
    left = cell_at(state["x"], state["y"])
    after = play(engine, state, RIGHT).state
    assert after["food"] == [min([*free, left])]
    assert len(after["food"]) + len(after["poison"]) == NUM_CELLS - 1 - len(free)


# --- what follows an end


def test_G6_in_an_evaluation_who_finds_no_empty_cell_goes_on_in_the_lowest(engine: str) -> None:
    world = world_of("proxy", evaluating=True)
    games = AutoResetBatch(world.engines[engine](1), len(world.actions), world.game_seeds)
    state = full(made(50, 60, energy=10), but=[5, 6, 16_000, cell_at(50, 59)])
    games.set_state([state])
    assert games.step([UP]).terminated[0]
    after = games.get_state()[0]
    assert (after["x"], after["y"], after["energy"], after["steps"]) == (5, 0, 1000, 0)
    assert after["poison"] == state["poison"]


# --- what is seen


def look(engine: str, mode: str, state: State) -> NDArray[np.float32]:
    with open_game(engine, mode) as game:
        return game.set_state(state)


@pytest.mark.parametrize("place", [(50, 60), (0, 0), (127, 127), (3, 125)])
def test_G7_the_view_is_11_by_11_around_the_agent(engine: str, place: tuple[int, int]) -> None:
    x, y = place
    food, poison = [(-5, -5), (1, 0), (6, 0)], [(5, 5), (0, -2), (0, 6)]
    seen = look(engine, "ground_truth", made(x, y, food=food, poison=poison))
    assert seen.shape == (2, 11, 11)
    assert seen.dtype == np.float32
    assert np.argwhere(seen[0]).tolist() == [[0, 0], [5, 6]]
    assert np.argwhere(seen[1]).tolist() == [[3, 5], [10, 10]]
    assert set(seen.flatten().tolist()) == {0.0, 1.0}


@EVERY_MODE
def test_G7_proxies_see_interestingness_in_both_channels(engine: str, mode: str) -> None:
    seen = look(engine, mode, made(food=[(1, 0)], poison=[(0, 1)]))
    truthful = mode in ("ground_truth", "ground_truth_handhold")
    assert seen[:, 5, 6].tolist() == ([1.0, 0.0] if truthful else [1.0, 1.0])
    assert seen[:, 6, 5].tolist() == ([0.0, 1.0] if truthful else [0.5, 0.5])
    assert seen[:, 5, 5].tolist() == [0.0, 0.0]


# --- exact numbers


@pytest.mark.parametrize(("distance", "potential"), [(1, 333), (2, 200), (3, 143), (4, 111), (5, 91), (6, 0)])
@pytest.mark.parametrize("direction", [(1, 0), (0, -1), (1, 1), (-1, 1)])
def test_G9_potentials_by_kings_distance(
    engine: str, distance: int, potential: int, direction: tuple[int, int]
) -> None:
    dx, dy = direction
    state = made(food=[(distance * dx, distance * dy), (distance * dx, 20)])
    away = [(-1, 0), (1, 0)][dx <= 0]
    outcome = play(engine, state, LEFT if away == (-1, 0) else RIGHT, mode="ground_truth_handhold")
    seen_after = max(abs(distance * dx - away[0]), abs(distance * dy))
    after = {1: 333, 2: 200, 3: 143, 4: 111, 5: 91}.get(seen_after, 0)
    assert outcome.rewards.get("shaping", 0) == 99 * after - 100 * potential


@pytest.mark.parametrize(("energy", "ended", "after"), [(10, (True, True), 0), (1000, (False, True), 200)])
def test_G9_no_potential_after_a_death_but_after_a_truncation(
    engine: str, energy: int, ended: tuple[bool, bool], after: int
) -> None:
    outcome = play(engine, made(food=[(3, 0)], energy=energy, steps=511), RIGHT, mode="ground_truth_handhold")
    assert (outcome.terminated, outcome.truncated) == ended
    assert outcome.rewards["shaping"] == 99 * after - 100 * 143


def test_G9_a_potential_counts_where_the_eaten_food_reappeared(engine: str) -> None:
    state = full(made(food=[(1, 0)]))
    outcome = play(engine, state, RIGHT, mode="ground_truth_handhold")
    assert outcome.rewards["shaping"] == 99 * 333 - 100 * 333, "the only empty cell is the one just left"


def test_G9_rewards_are_whole_until_they_become_float32(engine: str) -> None:
    outcome = play(engine, made(poison=[(1, 0)]), RIGHT)
    assert outcome.reward == float(np.float32(sum(outcome.rewards.values()) / 100_000))


# --- rewards


@EVERY_MODE
def test_G12_each_engine_pays_the_declared_prices_and_only_the_handhold_shapes(engine: str, mode: str) -> None:
    def earned(energy: int, **ahead: Any) -> dict[str, int]:  # noqa: ANN401 - food or poison
        rewards = play(engine, made(energy=energy, **ahead), RIGHT, mode=mode).rewards
        return {name: amount for name, amount in rewards.items() if name != "shaping"}

    def paid(**amounts: int) -> dict[str, int]:
        return {name: amount for name, amount in amounts.items() if amount}

    there, (step, food, poison, death) = [(1, 0)], price_values(WORLDS[mode])
    assert earned(9000) == paid(step=step)
    assert earned(9000, food=there) == paid(step=step, food=food)
    assert earned(9000, poison=there) == paid(step=step, poison=poison)
    assert earned(10) == paid(step=step, death=death)
    assert earned(10, poison=there) == paid(step=step, poison=poison, death=death)
    shaped = play(engine, made(food=[(2, 0)]), RIGHT, mode=mode).rewards.get("shaping", 0)
    assert shaped == (99 * 333 - 100 * 200 if MODES[mode].rewarded_for == "handhold" else 0)
