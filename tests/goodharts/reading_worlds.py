"""The worlds of Goodharts with one more engine, the reading, to hold both others to.

In this folder: ``parity run --world reading_worlds:GROUND_TRUTH``, and so on for the other modes.
"""

from dataclasses import replace
from functools import partial

from reading.engine import Reading

from goodharts.rules import MODES, Mode
from goodharts.world import WORLDS
from parity import World


def _with_reading(mode: Mode) -> World:
    world = WORLDS[mode.name]
    engines = {**world.engines, "reading": partial(Reading, mode.name, tuple(world.marks))}
    return replace(world, engines=engines)


PAIRED = {name: _with_reading(mode) for name, mode in MODES.items()}
ALONE = replace(WORLDS["proxy"], engines={"torch": WORLDS["proxy"].engines["torch"]}, benches=())
"""A world of one engine."""
GROUND_TRUTH = PAIRED["ground_truth"]
GROUND_TRUTH_BLINDED = PAIRED["ground_truth_blinded"]
PROXY_MORTAL = PAIRED["proxy_mortal"]
PROXY = PAIRED["proxy"]
GROUND_TRUTH_HANDHOLD = PAIRED["ground_truth_handhold"]
