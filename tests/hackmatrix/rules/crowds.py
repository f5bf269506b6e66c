"""Random valid state dicts: the material of the properties and of the comparisons with the reference."""

import numpy as np

from hackmatrix.world.starts import STARTS, place_of

from .engines import StateDict

KINDS = [make for name, make in STARTS.items() if name != "finished"]
STEPS = ((1, 0), (-1, 0), (0, -1), (0, 1))
"""(rows, columns) of the moves, in the order of their actions."""


def random_state(number: int) -> StateDict:
    """The ``number``-th random state, of any kind in which a game goes on."""
    return KINDS[number % len(KINDS)](np.random.default_rng(number))


def doorsteps(count: int) -> list[tuple[StateDict, int]]:
    """Random states whose player is one step from the exit, many of them crowded, and the action that leads there."""
    kinds = [STARTS["doorstep"], STARTS["crowded_doorstep"]]
    states = [kinds[number % 2](np.random.default_rng(number)) for number in range(count)]
    ways = [(place_of(state["player"]), place_of(state["exit"])) for state in states]
    steps = [STEPS.index((there[0] - here[0], there[1] - here[1])) for here, there in ways]
    return list(zip(states, steps, strict=True))
