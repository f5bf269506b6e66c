"""How MiniGrid begins a game where Navix does, and what both draw at a reset."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import gymnasium
import jax
import minigrid
import navix
import numpy as np
from minigrid.core.grid import Grid
from minigrid.core.world_object import Key
from numpy.typing import NDArray

AGENT, BALL, EMPTY = 10, 6, (1, 0, 0)
PICKED = ("key", "ball", "box")
PICKED_TYPES = (5, 6, 7)
RESETS = 256


def shared_ids() -> list[str]:
    """The ids that both have, without the libraries' prefixes."""
    ported = {name.removeprefix("Navix-") for name in navix.registry()}
    return sorted(ported & {name.removeprefix("MiniGrid-") for name in gymnasium.registry})


@cache
def environment(name: str) -> tuple[Any, Any, Any]:
    """An environment of Navix, its reset and its step without auto-reset."""
    env = navix.make(f"Navix-{name}")
    return env, jax.jit(env.reset), jax.jit(env._step)


def is_open(name: str) -> bool:
    """Whether MiniGrid's agent sees through walls."""
    env: Any = gymnasium.make(f"MiniGrid-{name}").unwrapped
    return bool(env.see_through_walls)


first_person = jax.jit(navix.observations.symbolic_first_person)


def carried(state: Any) -> NDArray[np.uint8]:
    """Type, colour and state of what the agent of Navix carries; zeros: nothing."""
    pocket = int(state.get_player().pocket)
    found = (each for kind in PICKED if kind in state.entities for each in objects(state.entities[kind]))
    return np.array(next(((*shown, 0) for number, *shown in found if number == pocket), (0, 0, 0)), np.uint8)


def objects(entity: Any) -> Iterator[tuple[int, int, int]]:
    """Number, type and colour of each object of a kind."""
    yield from zip(*(np.asarray(part).tolist() for part in (entity.id, entity.tag, entity.colour)), strict=True)


def lay(env: Any, name: str, seed: int) -> None:
    """Put the reset of Navix into an environment of MiniGrid, which was reset."""
    start = environment(name)[1](jax.random.key(seed))
    state = start.state
    env.grid, _ = Grid.decode(np.asarray(start.observation).transpose(1, 0, 2))
    player = state.get_player()
    env.agent_pos, env.agent_dir, env.carrying = square(player.position), int(player.direction), None
    here: dict[str, list[Any]] = {}
    for index, object_here in enumerate(env.grid.grid):
        if object_here is not None:
            object_here.init_pos = object_here.cur_pos = (index % env.grid.width, index // env.grid.width)
            here.setdefault(object_here.type, []).append(object_here)
    env.obstacles, env.door = here.get("ball", []), next(iter(here.get("door", [])), None)
    doors = {door.color: door for door in here.get("door", [])}
    env.red_door, env.blue_door, env.obj = doors.get("red"), doors.get("blue"), next(iter(here.get("box", [])), None)
    targets = [square(event.position) for event in state.mission]
    if targets:
        first, last = env.grid.get(*targets[0]), env.grid.get(*targets[-1])
        env.target_pos, env.success_pos = targets[-1], targets[0]
        env.failure_pos = targets[0][0], 2 * (env.grid.height // 2) - targets[0][1]
        if first is not None and last is not None:
            env.obj, env.move_type, env.moveColor = first, first.type, first.color
            env.targetType, env.targetColor = first.type, first.color
            env.target_type, env.target_color = last.type, last.color
    if "box" in state.entities and "key" in state.entities:
        colours = {number: colour for number, _, colour in objects(state.entities["key"])}
        boxes = state.entities["box"]
        for place, inside in zip(np.asarray(boxes.position), np.asarray(boxes.pocket).tolist(), strict=True):
            if inside in colours and place[1] >= 0:
                env.grid.get(*square(place)).contains = Key(minigrid.core.constants.IDX_TO_COLOR[colours[inside]])


def square(position: Any) -> tuple[int, int]:
    """Column and row of a position of Navix."""
    row, column = np.asarray(position).ravel().tolist()
    return column, row


@cache
def resets_of_minigrid(name: str) -> NDArray[np.int64]:
    """What resets of an id of MiniGrid draw, as ``ranges`` has it."""
    env: Any = gymnasium.make(f"MiniGrid-{name}").unwrapped
    grids, directions = [], []
    for seed in range(RESETS):
        env.reset(seed=seed)
        grids.append(env.grid.encode().transpose(1, 0, 2))
        directions.append(env.agent_dir)
    return ranges(np.stack(grids), np.array(directions), env.max_steps)


@cache
def resets_of_navix(name: str) -> NDArray[np.int64]:
    """What resets of an id of Navix draw, as ``ranges`` has it."""
    env, reset, _ = environment(name)
    starts = [reset(jax.random.key(seed)) for seed in range(RESETS)]
    grids = np.stack([np.asarray(start.observation) for start in starts])
    directions = np.array([int(start.state.get_player().direction) for start in starts])
    return ranges(grids, directions, env.max_steps)


def ranges(grids: NDArray[Any], directions: NDArray[Any], limit: int) -> NDArray[np.int64]:
    """The least and the greatest value, (9, 2).

    Of the numbers of walls, doors, keys with balls and boxes, goals and pieces of lava in a grid; of its rows and
    columns that have a cell which is no wall; of the agent's direction; of the time limit.
    """
    kinds = np.where(np.isin(grids[..., 0], PICKED_TYPES), PICKED_TYPES[0], grids[..., 0])
    numbers = [(kinds == kind).sum(axis=(1, 2)) for kind in (2, 4, PICKED_TYPES[0], 8, 9)]
    spans = [(kinds != 2).any(axis=axis).sum(axis=1) for axis in (2, 1)]
    values = [*numbers, *spans, directions.ravel(), np.array([limit])]
    return np.array([(value.min(), value.max()) for value in values])


def resets(read: Any, _: int) -> dict[str, Any]:
    """What ``read`` gives for each id, whatever the seed."""
    return {name: read(name) for name in shared_ids()}


def padded(grid: Any, side: int, name: str) -> Any:
    """A grid in the corner of a square, without balls that move at random."""
    shown = np.pad(grid.astype(np.uint8), [(0, side - grid.shape[0]), (0, side - grid.shape[1]), (0, 0)])
    return np.where((shown[..., :1] == BALL) & (family(name) == "Dynamic"), np.array(EMPTY, np.uint8), shown)


def family(name: str) -> str:
    """What ids have in common, such as DoorKey."""
    return re.match(r"[A-Za-z]+", name)[0].removesuffix("S")  # type: ignore[index]
