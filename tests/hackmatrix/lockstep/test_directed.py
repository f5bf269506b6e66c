"""Parts of directed runs: smaller states, policies, recorded games, and boards."""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from hackmatrix import jax_env, rules
from hackmatrix.exploration.starts import STARTS
from hackmatrix.rules import ACTIONS, BLOCKS, ENEMIES, OBSERVATION_SIZE, STATE_FIELDS, observation_label
from hackmatrix.world import WORLD, draw_board
from rlparity import BatchEngine, State, StateRefused, View

ONLY = np.zeros(1, np.intp)


@pytest.fixture(scope="module")
def swift(swift_built: None) -> BatchEngine:
    return WORLD.engines["swift"](1)


def draws(name: str, count: int) -> list[State]:
    rng = np.random.default_rng(list(STARTS).index(name))
    return [STARTS[name](rng) for _ in range(count)]


def size(value: Any) -> int:  # noqa: ANN401 - JSON
    """The measure by which smaller states are smaller."""
    if isinstance(value, dict | list):
        return 1 + sum(map(size, value.values() if isinstance(value, dict) else value))
    return value if isinstance(value, int) else 0


@pytest.mark.parametrize("name", ["mixed", "crowded", "saturated"])
def test_smaller_states_are_smaller_and_mostly_taken(swift: BatchEngine, name: str) -> None:
    swift.set_state(draws(name, 1), ONLY)
    whole = swift.get_state(ONLY)[0]
    results: Counter[bool] = Counter()
    for shrinker in WORLD.shrinkers:
        for smaller in shrinker(whole):
            assert size(smaller) < size(whole)
            try:
                swift.set_state([smaller], ONLY)
                results[True] += 1
            except StateRefused:
                results[False] += 1
    assert results[True] > results[False]


@pytest.mark.parametrize("name", WORLD.policies)
def test_a_policy_gives_every_valid_action_some_weight(swift: BatchEngine, name: str) -> None:
    for state in draws("armed", 5):
        observation = swift.set_state([state], ONLY)
        weights = WORLD.policies[name](View(observation, swift.mask(), ONLY, swift.get_state))
        assert weights.shape == (1, rules.NUM_ACTIONS)
        assert (weights[swift.mask()] > 0).all()


def changed_leaves(value: Any, path: str = "state") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - JSON values
    """Copies of a JSON value with another number, flag or word in one place, and that place's name."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from ((name, {**value, key: other}) for name, other in changed_leaves(part, f"{path}.{key}"))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for name, other in changed_leaves(part, f"{path}[{index}]"):
                yield name, [*value[:index], other, *value[index + 1 :]]
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int):
        place = path.lower().endswith(("row", "col"))
        yield path, (value + 1) % 6 if place else value - 1 if value == ACTIONS.index("HACK") else value + 1
    elif path.endswith(("type", "enemyType")):
        block = "data" if value == "question" else "question"
        yield path, block if value in BLOCKS else ENEMIES[ENEMIES.index(value) - 1]


@pytest.mark.parametrize("start", STARTS)
def test_states_that_differ_in_anything_on_the_board_or_beside_it_are_drawn_differently(start: str) -> None:
    given = jax_env.get_state(jax_env.set_state(STARTS[start](np.random.default_rng(7))))
    assert set(given) == set(STATE_FIELDS)
    board, unchanged = draw_board(given), deepcopy(given)
    same = [
        name
        for name, other in changed_leaves(given)
        # What UNDO would bring back is another board, and a block's flag is its cell's (A3).
        if not name.startswith("state.history") and not name.endswith("].siphoned") and draw_board(other) == board
    ]
    assert same == []
    assert given == unchanged


def test_every_number_of_the_observation_has_its_own_name() -> None:
    names = [observation_label((index,)) for index in range(OBSERVATION_SIZE)]
    assert len(set(names)) == OBSERVATION_SIZE
    assert names[2] == "player hp"
    assert names[10] == "owns PUSH"
    assert names[rules.GRID_PART.start + 8 * len(rules.CELL_FEATURES) + 4] == "cell (1,2) enemyHP"
