"""Steps of games and what the engine paid for them: single ones, and those of many games."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from hackmatrix.explain.transition import StateTransition
from hackmatrix.world import WORLD
from rlparity import State, View
from rlparity.core.source_specs import open_source
from rlparity.core.sources import choose_actions
from tests.hackmatrix.rules.engines import SWIFT

GAMES, STEPS, SEED, INVALID_SHARE = 64, 30, 9, 0.02
ONLY = np.zeros(1, np.intp)


class Paid(NamedTuple):
    """A step, and the 15 components that the engine paid for it, in thousandths."""

    step: StateTransition
    values: tuple[int, ...]


Play = Callable[[State, int], Paid]


@pytest.fixture
def play(swift_built: None) -> Play:
    def one_step(state: State, action: int) -> Paid:
        before, after = SWIFT.complete(state), SWIFT.play(state, action)
        return Paid(StateTransition(before, after.state, action), tuple(after.components.values()))

    return one_step


@pytest.fixture(scope="session")
def paid_steps(swift_built: None) -> list[Paid]:
    """Steps of many games, directed and from their beginnings."""
    engine = WORLD.engines["swift"](GAMES)
    ended = every = np.arange(GAMES)
    rng = np.random.default_rng(SEED)
    source = open_source("directed", WORLD, GAMES, rng)
    observation = engine.reset(np.arange(SEED, SEED + GAMES, dtype=np.uint64), every)
    states, paid = engine.get_state(every), []
    for _ in range(STEPS):
        for slot, state in source.starts(ended).items():
            (observation[slot],) = engine.set_state([state], np.array([slot]))
        for game, state in zip(ended.tolist(), engine.get_state(ended), strict=True):
            states[game] = state
        mask = engine.mask()
        weights = source.weights(View(observation, mask, every, engine.get_state))
        actions = choose_actions(rng, weights, mask, INVALID_SHARE)
        played = engine.step(actions)
        before, states = states, engine.get_state(every)
        for old, new, action, values in zip(before, states, actions, played.components, strict=True):
            paid.append(Paid(StateTransition(old, new, int(action)), tuple(values.tolist())))
        ended = np.flatnonzero(played.ended)
        observation = played.observation.copy()
        if len(ended):
            observation[ended] = engine.restart(ended)
    engine.close()
    return paid
