"""The worlds of Craftax-Classic in Crafter, and its luck."""

from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
from craftax.craftax_classic.constants import BlockType
from crafter import constants, objects

NAMES = {block.value: block.name.lower() for block in BlockType} | {BlockType.CRAFTING_TABLE.value: "table"}
NUMBERS = {name: value for value, name in NAMES.items()}
FACINGS = ((0, 0), (-1, 0), (1, 0), (0, -1), (0, 1))
"""By the numbers of the port: nowhere, left, right, up, down."""


@jax.jit
def luck(seed: Any, turn: Any) -> Any:
    """What the port draws for the sapling that an action of a turn may find."""
    _, of_action = jax.random.split(jax.random.fold_in(jax.random.key(seed), turn))
    return jax.random.uniform(jax.random.split(of_action)[1])


def place(env: Any, seed: int, start: Any, facing: tuple[int, int]) -> None:
    """Put Crafter's game into a start of the port."""
    world = env._world
    world.reset(0)
    world.random = SimpleNamespace(uniform=lambda: float(luck(seed, env._step)))
    env._step, env._last_health, env._unlocked = 0, constants.items["health"]["initial"], set()
    for (row, column), block in np.ndenumerate(start.map):
        world[column, row] = NAMES[int(block)]
    env._player = objects.Player(world, tuple(map(int, start.player_position[::-1])))
    env._player.facing = facing
    world.add(env._player)
    env._update_time()


def blocks_of(env: Any) -> Any:
    """Crafter's map by the port's numbers, plants too."""
    world = env._world
    blocks = np.array([0, *(NUMBERS[name] for name in constants.materials)])[world._mat_map].T
    for plant in (each for each in world.objects if isinstance(each, objects.Plant)):
        blocks[tuple(plant.pos[::-1])] = NUMBERS["ripe_plant" if plant.ripe else "plant"]
    return blocks
