"""Many steps of many games, directed and from their beginnings, with what the engine paid for each."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hackmatrix.explain.transition import Transition
from hackmatrix.world import WORLD
from parity import BatchEngine, View
from parity.sources import choose_actions, open_source

INVALID_SHARE = 0.02


@dataclass(frozen=True)
class Paid:
    """A step, and the 15 components that the engine paid for it, in thousandths."""

    step: Transition
    values: tuple[int, ...]


def paid_steps(engine: BatchEngine, steps: int, seed: int) -> Iterator[Paid]:
    every = np.arange(engine.games)
    rng = np.random.default_rng(seed)
    source = open_source("directed", WORLD, engine.games, rng)
    observation = engine.reset(np.arange(seed, seed + engine.games, dtype=np.uint64), every)
    ended = every
    for _ in range(steps):
        for slot, state in source.starts(ended).items():
            (observation[slot],) = engine.set_state([state], np.array([slot]))
        before = engine.get_state(every)
        mask = engine.mask()
        weights = source.weights(View(observation, mask, every, engine.get_state))
        actions = choose_actions(rng, weights, mask, INVALID_SHARE)
        played = engine.step(actions)
        for old, new, action, paid in zip(before, engine.get_state(every), actions, played.components, strict=True):
            yield Paid(Transition(old, new, int(action)), tuple(paid.tolist()))
        ended = np.flatnonzero(played.ended)
        observation = played.observation.copy()
        if len(ended):
            observation[ended] = engine.restart(ended)
