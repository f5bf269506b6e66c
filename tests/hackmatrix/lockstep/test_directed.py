"""Parts of directed runs and of curricula: starts, smaller states, recorded games, and boards."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import curriculum, jax_env, rules
from hackmatrix.exploration.starts import STARTS
from hackmatrix.rules import ACTIONS, BLOCKS, ENEMIES, OBSERVATION_SIZE, STATE_FIELDS, observation_label
from hackmatrix.swift_env import SwiftEngine
from hackmatrix.train_config import GENTLE, PROGRAMS, STAGES
from hackmatrix.world import WORLD, draw_board
from rlparity import State
from rlparity.threefry import seed_pair
from tests.played import check_smaller_states

ONLY = np.zeros(1, np.intp)


def draws(name: str, count: int) -> list[State]:
    rng = np.random.default_rng(list(STARTS).index(name))
    return [STARTS[name](rng) for _ in range(count)]


@pytest.mark.parametrize("name", ["mixed", "crowded", "saturated"])
def test_smaller_states_are_smaller_and_mostly_taken(swift: SwiftEngine, name: str) -> None:
    swift.set_state(draws(name, 1), ONLY)
    check_smaller_states(WORLD, swift, swift.get_state(ONLY)[0])


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


GAMES = 64
EpisodeState = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def begun() -> EpisodeState:
    """The first states of the same seeds by each start, and of new games."""
    seeds = jnp.array([seed_pair(seed) for seed in range(GAMES)], jnp.uint32)
    at_stage = jax.jit(jax_env.at_stage)  # the one program that all starts share, so their stage is an input
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax_env, "at_stage", at_stage)
        patch.setattr(jax_env, "reset", lambda seed: at_stage(seed, (seed[0] * 0 + 1).astype(jnp.int32)))
        together = {name: jax.vmap(start)(seeds) for name, start in {"new": jax_env.reset, **curriculum.STARTS}.items()}
    return {
        name: [jax_env.get_state(jax.tree.map(lambda leaf, n=number: leaf[n], states)) for number in range(GAMES)]
        for name, states in jax.tree.map(np.asarray, together).items()
    }


@pytest.mark.parametrize("name", curriculum.STARTS)
def test_the_swift_engine_knows_every_state(name: str, begun: EpisodeState, swift: SwiftEngine) -> None:
    for state in begun[name]:
        swift.set_state([state], ONLY)
        assert swift.get_state(ONLY) == [state]


def test_stages_are_all_eight_and_gentle_boards_are_the_same_without_their_enemies(begun: EpisodeState) -> None:
    assert {state["stage"] for state in begun[STAGES]} == set(range(1, rules.WON_STAGE))
    for new, state, gentle in zip(begun["new"], begun[STAGES], begun[GENTLE], strict=True):
        assert state == new or state["stage"] > 1
        assert state["transmissions"]
        assert gentle == state | {"transmissions": []}


def test_a_quarter_of_the_programs_are_owned(begun: EpisodeState) -> None:
    owned = [len(state["ownedPrograms"]) for state in begun[PROGRAMS]]
    assert abs(np.mean(owned) / rules.NUM_PROGRAMS - 0.25) < 0.05
    for new, state in zip(begun["new"], begun[PROGRAMS], strict=True):
        assert (state["stage"], state["blocks"]) == (1, new["blocks"])
        for name in ("credits", "energy"):
            assert state["player"][name] == new["player"][name] + 15
