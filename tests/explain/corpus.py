"""Many steps of many games, directed and from their beginnings, with what every engine paid for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hackmatrix.explain.transition import Transition
from hackmatrix.world import WORLD
from parity import BatchEngine, View
from parity.sources import choose_actions, open_source

INVALID_SHARE = 0.02


@dataclass(frozen=True)
class Paid:
    """A step in the first engine's states, and per engine its 15 components in thousandths."""

    step: Transition
    values: tuple[tuple[int, ...], ...]


def paid_steps(engines: Sequence[BatchEngine], steps: int, seed: int) -> Iterator[Paid]:
    """Play all games of the engines for some steps; nothing of one engine reaches another but the actions."""
    first = engines[0]
    games = first.games
    every = np.arange(games)
    rng = np.random.default_rng(seed)
    source = open_source("directed", WORLD, games, rng)
    seeds = np.arange(seed, seed + games, dtype=np.uint64)
    observation, *_ = [engine.reset(seeds, every) for engine in engines]
    ended = every
    for _ in range(steps):
        for slot, state in source.starts(ended).items():
            placed = np.array([slot])
            (observation[slot],), *_ = [engine.set_state([state], placed) for engine in engines]
        before = first.get_state(every)
        mask = first.mask()
        weights = source.weights(View(observation, mask, every, first.get_state))
        actions = choose_actions(rng, weights, mask, INVALID_SHARE)
        played = [engine.step(actions) for engine in engines]
        after = first.get_state(every)
        for game in range(games):
            values = tuple(tuple(step.components[game].tolist()) for step in played)
            yield Paid(Transition(before[game], after[game], int(actions[game])), values)
        ended = np.flatnonzero(played[0].ended)
        observation = played[0].observation.copy()
        if len(ended):
            observation[ended], *_ = [engine.restart(ended) for engine in engines]
