"""The worlds of Goodharts with one more engine, the reading, to hold both others to."""

from dataclasses import replace
from functools import partial
from typing import Any

from reading.engine import Reading

from goodharts.rules import DEFAULT_NUMBERS, MODES, Numbers
from goodharts.world import WORLDS, open_jax, open_torch
from rlparity import World


def world_of(mode: str, numbers: Numbers = DEFAULT_NUMBERS, *, evaluating: bool = False) -> World:
    """A mode with these numbers on all three engines; ``evaluating``: by the rules of an evaluation (G6)."""
    world, how = WORLDS[mode], dict[str, Any](numbers=numbers, evaluating=evaluating)
    read = partial(Reading, mode, tuple(world.marks), **how)
    both = {"torch": partial(open_torch, MODES[mode], **how), "jax": partial(open_jax, MODES[mode], **how)}
    accept = () if evaluating else world.accept  # what starves in an evaluation ends
    return replace(world, engines={**both, "reading": read}, accept=accept)


PAIRED = {name: world_of(name) for name in MODES}
SIMILAR = ("ground_truth_blinded", "proxy_mortal")
"""Modes made of parts that others are made of, too: they are compared in all ways only where minutes count."""
