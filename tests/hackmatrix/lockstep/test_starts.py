"""The start states of curricula, which both engines take."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hackmatrix import jax_env, rules
from hackmatrix.curriculum import STARTS
from hackmatrix.swift_env import SwiftEngine
from hackmatrix.train_config import GENTLE, PROGRAMS, STAGES
from rlparity.threefry import seed_pair

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
        together = {name: jax.vmap(start)(seeds) for name, start in {"new": jax_env.reset, **STARTS}.items()}
    return {
        name: [jax_env.get_state(jax.tree.map(lambda leaf, n=number: leaf[n], states)) for number in range(GAMES)]
        for name, states in jax.tree.map(np.asarray, together).items()
    }


@pytest.mark.parametrize("name", STARTS)
def test_the_swift_engine_knows_every_state(name: str, begun: EpisodeState, one_game: SwiftEngine) -> None:
    for state in begun[name]:
        one_game.set_state([state], np.zeros(1, int))
        assert one_game.get_state(np.zeros(1, int)) == [state]


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
