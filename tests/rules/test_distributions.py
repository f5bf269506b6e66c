"""That "uniform" is uniform: chi-square tests over fixed seeds, so their results never change."""

from collections import Counter
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chisquare

from hackmatrix import jax_env, rules
from worldkit.threefry import seed_pair

from .builders import (
    UP,
    WAIT,
    Json,
    Place,
    coming,
    cryptog,
    daemon,
    data,
    glitch,
    only,
    place_of,
    places,
    run,
    state,
    virus,
)
from .engines import BATCH, StateDict
from .reference.board import ENEMIES

GAMES = 1024
CORNERS = [(0, 0), (0, 5), (5, 0), (5, 5)]


@cache
def new_games() -> list[StateDict]:
    """New games of many seeds."""
    return [jax_env.get_state(game) for game in BATCH.reset(range(50_000, 50_000 + GAMES))]


def outcomes(start: StateDict, action: int, games: int = GAMES) -> list[StateDict]:
    """The states after one action, the same start with many seeds."""
    loaded = jax_env.set_state(start)
    seeds = [seed_pair(70_000 + game) for game in range(games)]
    starts = [loaded._replace(seed=type(loaded.seed)(jnp.asarray(low), jnp.asarray(high))) for low, high in seeds]
    return [jax_env.get_state(after) for after, _ in BATCH.step(starts, [action] * games)]


def check(observed: Iterable[Hashable], weights: dict[Any, float]) -> None:
    """Chi-square of the observed values against weights; every observed value has one."""
    counts = Counter(observed)
    assert set(counts) <= set(weights), set(counts) - set(weights)
    expected = np.array(list(weights.values()), float)
    expected *= counts.total() / expected.sum()
    assert expected.min() >= 5, "too few observations for the test"
    assert chisquare([counts[value] for value in weights], expected).pvalue > 0.001, counts


def uniform(observed: Iterable[Hashable], values: Iterable[Any]) -> None:
    """Chi-square against the uniform distribution."""
    check(observed, dict.fromkeys(values, 1.0))


def wait(**fields: Json) -> StateDict:
    """A state for WAIT around a player that stays in (0,0)."""
    still = {"player": (0, 0), "owned": "wait", "energy": 1, "nextScheduledTaskTurn": 1000}
    return state(**(still | fields))


def test_B1_start_corner_and_bonus() -> None:
    uniform([place_of(game["player"]) for game in new_games()], CORNERS)
    names = ("credits", "energy", "dataSiphons")
    bonuses = [tuple(game["player"][name] for name in names) for game in new_games()]
    uniform(bonuses, [(10, 0, 0), (0, 11, 0), (0, 0, 1)])


@pytest.mark.parametrize("corner", CORNERS)
def test_B3_exit_corner(corner: Place) -> None:
    others = [place for place in CORNERS if place != corner]
    uniform([place_of(game["exit"]) for game in new_games() if place_of(game["player"]) == corner], others)


def test_B4_block_count_and_cells() -> None:
    # Eight free cells no two of which touch, so that every placement is valid at the first attempt.
    free = [(0, 1), (0, 3), (2, 1), (2, 3), (2, 5), (4, 1), (4, 3), (4, 5)]
    everywhere = [(r, c) for r in range(6) for c in range(6)]
    crowd = [daemon(*place) for place in everywhere if place not in [*free, *CORNERS]]
    made = outcomes(state(player=(4, 5), exit=(5, 5), enemies=crowd), UP)
    check([len(game["blocks"]) for game in made], {5: 1, 6: 1, 7: 1, 8: 4})
    uniform([only_missing(free, game) for game in made if len(game["blocks"]) == 7], free)


def only_missing(free: list[Place], game: StateDict) -> Place:
    """The one free cell without a block."""
    (place,) = set(free) - set(places(game["blocks"]))
    return place


def test_B5_question_and_data_shares_points_and_programs() -> None:
    blocks = [block for game in new_games() for block in game["blocks"]]
    check([block["type"] == "question" for block in blocks], {True: 1, False: 9})
    check(["points" in block for block in blocks], {True: 1, False: 1})
    hidden = [block for block in blocks if block["type"] == "question"]
    check(["points" in block for block in hidden], {True: 1, False: 1})
    uniform([block["points"] for block in blocks if "points" in block], range(1, 10))
    uniform(
        [block["programActionIndex"] for block in blocks if "programActionIndex" in block],
        range(rules.FIRST_PROGRAM, rules.NUM_ACTIONS),
    )


def test_B7_amounts_and_kinds() -> None:
    lying = [entry for game in new_games() for entry in game["resources"] if entry["credits"] or entry["energy"]]
    amounts = [entry["credits"] + entry["energy"] for entry in lying]
    check(amounts, {1: 0.45, 2: 0.45, 3: 0.10})
    check([entry["credits"] > 0 for entry in lying], {True: 1, False: 1})


def test_C6_cells_and_types_of_siphon_spawns() -> None:
    hidden = [(r, c) for r in range(1, 6) for c in range(1, 6)]
    made = [only(game["transmissions"]) for game in outcomes(wait(pendingSiphonTransmissions=1), WAIT)]
    uniform([place_of(entry) for entry in made], hidden)
    uniform([entry["enemyType"] for entry in made], ENEMIES)


def test_E10_cells_and_types_of_scheduled_spawns() -> None:
    hidden = [(r, c) for r in range(1, 6) for c in range(1, 6)]
    made = [only(game["transmissions"]) for game in outcomes(wait(nextScheduledTaskTurn=0), WAIT)]
    uniform([place_of(entry) for entry in made], hidden)
    uniform([entry["enemyType"] for entry in made], ENEMIES)


def test_B8_types_of_the_stages_transmissions() -> None:
    uniform([entry["enemyType"] for game in new_games() for entry in game["transmissions"]], ENEMIES)


def test_E4_who_acts_first() -> None:
    # Two daemons beside (1,1), the only cell of their way to the player; the first one takes it.
    open_cells = [(0, 0), (0, 1), (1, 1), (1, 0), (1, 2), (2, 1)]
    blocks = [data(r, c) for r in range(6) for c in range(6) if (r, c) not in [*open_cells, (5, 5)]]
    around = [daemon(1, 2, hp=1), daemon(2, 1, hp=2)]
    made = outcomes(wait(blocks=blocks, enemies=around), WAIT)
    uniform([next(entry["hp"] for entry in game["enemies"] if place_of(entry) == (1, 1)) for game in made], [1, 2])
    # Three around (2,2).
    open_cells = [(0, 2), (1, 2), (2, 1), (2, 2), (2, 3), (3, 2)]
    way = [data(r, c) for r in range(6) for c in range(6) if (r, c) not in [*open_cells, (5, 5)]]
    three = [daemon(2, 1, hp=1), daemon(2, 3, hp=2), daemon(3, 2, hp=3)]
    made = outcomes(wait(player=(0, 2), blocks=way, enemies=three), WAIT)
    uniform([next(entry["hp"] for entry in game["enemies"] if place_of(entry) == (2, 2)) for game in made], [1, 2, 3])


def test_E6_candidates() -> None:
    made = outcomes(wait(enemies=[daemon(3, 3)]), WAIT)
    uniform([place_of(only(game["enemies"])) for game in made], [(2, 3), (3, 2)])
    preferring = outcomes(wait(enemies=[cryptog(3, 3), glitch(5, 3)], blocks=[data(4, 3), data(5, 2)]), WAIT)
    uniform([only_of(game, "cryptog") for game in preferring], [(2, 3), (3, 2)])
    uniform([only_of(game, "glitch") for game in preferring], [(4, 3), (5, 2)])


def only_of(game: StateDict, kind: str) -> Place:
    """Where the one enemy of a kind stands."""
    return place_of(only([entry for entry in game["enemies"] if entry["type"] == kind]))


def test_P_WARP_targets() -> None:
    targets = {"enemies": [daemon(0, 1), virus(4, 4), glitch(3, 0)], "transmissions": [coming("virus", 1, 5)]}
    made = outcomes(*run("warp", **targets))
    uniform([place_of(game["player"]) for game in made], [(0, 1), (4, 4), (3, 0), (1, 5)])


@pytest.mark.parametrize("kind", ENEMIES)
def test_P_POLY_types(kind: str) -> None:
    made = outcomes(*run("poly", enemies=[{"type": kind, "row": 4, "col": 4, "hp": 2}]))
    others = [other for other in ENEMIES if other != kind]
    uniform([only(game["enemies"])["type"] for game in made], others)


def test_the_check_itself_can_fail() -> None:
    with pytest.raises(AssertionError):
        uniform([0] * 60 + [1] * 40 + [2] * 20, [0, 1, 2])
    with pytest.raises(AssertionError):
        uniform([0, 1] * 50 + [7], [0, 1])
