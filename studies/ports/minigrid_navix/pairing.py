"""MiniGrid, and Navix, which plays its environments in JAX. Both show the whole grid, as rows of (type, colour, state).

A state is the grid without the agent; where the agent is, how it looks and what it carries; and the time.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rlparity import State, Tolerance, World
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")
FIELDS = ("cells", "row", "column", "direction", "carrying", "time")
EMPTY, WALL, YELLOW = [1, 0, 0], [2, 5, 0], 4
DOOR, KEY, GOAL, AGENT = 4, 5, 8, 10
OPEN, LOCKED = 0, 2
TYPES = {2: "wall", DOOR: "door", KEY: "key", GOAL: "goal", 9: "lava"}
KEY_ID = 3


class Original(SingleGame):
    """A game of MiniGrid, with its reward of the time or 1, and its time limit or that of Navix."""

    has_states = True

    def __init__(self, name: str, options: dict[str, Any], view: bool) -> None:
        import gymnasium
        import minigrid  # noqa: F401 - registers the environments

        self._env: Any = gymnasium.make(name, **options).unwrapped
        self._view = view

    def begin(self, seed: int) -> ArrayLike:
        self._env.reset(seed=seed)
        return self._seen()

    def _seen(self) -> ArrayLike:
        env = self._env
        if self._view:
            return np.asarray(env.gen_obs()["image"]).transpose(1, 0, 2)
        grid = env.grid.encode()
        grid[env.agent_pos[0], env.agent_pos[1]] = [AGENT, 0, env.agent_dir]
        return np.asarray(grid).transpose(1, 0, 2)

    def act(self, action: int) -> Outcome:
        _, reward, terminated, truncated, _ = self._env.step(action)
        return Outcome(self._seen(), np.float32(reward), bool(terminated), bool(truncated))

    def pull(self) -> State:
        env = self._env
        return {
            "cells": json.dumps(env.grid.encode().transpose(1, 0, 2).tolist()),
            "row": int(env.agent_pos[1]),
            "column": int(env.agent_pos[0]),
            "direction": int(env.agent_dir),
            "carrying": None if env.carrying is None else json.dumps([int(value) for value in env.carrying.encode()]),
            "time": int(env.step_count),
        }

    def push(self, state: State) -> ArrayLike:
        from minigrid.core.grid import Grid
        from minigrid.core.world_object import WorldObj

        env = self._env
        env.reset(seed=state["seed"])
        env.grid, _ = Grid.decode(np.array(json.loads(state["cells"]), np.uint8).transpose(1, 0, 2))
        env.agent_pos, env.agent_dir = (state["column"], state["row"]), state["direction"]
        env.carrying = None if state["carrying"] is None else WorldObj.decode(*json.loads(state["carrying"]))
        env.step_count = state["time"]
        return self._seen()

    def close(self) -> None:
        self._env.close()


class Port(SingleGame):
    """A game of Navix. What the agent carries has left the grid."""

    has_states = True

    def __init__(self, env: Any, functions: tuple[Callable[..., Any], ...]) -> None:
        self._env, (self._reset, self._step, self._observe) = env, functions

    def begin(self, seed: int) -> ArrayLike:
        import jax

        self._now = self._reset(jax.random.key(seed))
        return np.asarray(self._now.observation).astype(np.uint8)

    def act(self, action: int) -> Outcome:
        self._now = now = self._step(self._now, action)
        kind = int(now.step_type)
        return Outcome(np.asarray(now.observation).astype(np.uint8), np.float32(now.reward), kind == 2, kind == 1)

    def pull(self) -> State:
        state = self._now.state
        cells = [[EMPTY if free == 0 else WALL for free in row] for row in np.asarray(state.grid)]
        for name, entity in state.entities.items():
            if name == "player":
                continue
            colours = np.asarray(getattr(entity, "colour", np.zeros(entity.shape)))
            for place, kind, colour, value in zip(
                np.asarray(entity.position),
                np.asarray(entity.tag),
                colours,
                np.asarray(entity.symbolic_state),
                strict=True,
            ):
                if place[1] >= 0:
                    cells[place[0]][place[1]] = [int(kind), int(colour), int(value)]
        player = state.get_player()
        carries = int(player.pocket) > 0
        colour = int(state.entities["key"].colour[0]) if carries else 0
        return {
            "cells": json.dumps(cells),
            "row": int(player.position[0]),
            "column": int(player.position[1]),
            "direction": int(player.direction),
            "carrying": json.dumps([KEY, colour, 0]) if carries else None,
            "time": int(self._now.t),
        }

    def push(self, state: State) -> ArrayLike:
        self.begin(state["seed"])
        cells, now = np.array(json.loads(state["cells"])), self._now.state
        entities = dict(now.entities)
        for kind, name in TYPES.items():
            if name not in entities:
                continue
            entity = entities[name]
            places = np.argwhere(cells[..., 0] == kind)
            if name == "wall":
                places = np.array([place for place in places if np.asarray(now.grid)[tuple(place)] == 0]).reshape(-1, 2)
            elsewhere = np.tile([0, -1], (len(entity.position) - len(places), 1))
            values: dict[str, Any] = {"position": np.concatenate([places, elsewhere]).astype(np.int32)}
            colours = cells[tuple(places.T)]
            if hasattr(entity, "colour") and len(places):
                values["colour"] = np.resize(colours[:, 1], len(entity.position)).astype(np.uint8)
            if name == "door":
                values["open"] = colours[:, 2] == OPEN
                values["requires"] = np.where(colours[:, 2] == LOCKED, KEY_ID, -1).astype(np.int32)
            entities[name] = entity.replace(**values)
        player = entities["player"]
        entities["player"] = player.replace(
            position=np.array([[state["row"], state["column"]]], np.int32),
            direction=np.array([state["direction"]], np.int32),
            pocket=np.array([KEY_ID if state["carrying"] else -1], np.int32),
        )
        if state["carrying"]:
            entities["key"] = entities["key"].replace(colour=np.array([json.loads(state["carrying"])[1]], np.uint8))
        now = now.replace(entities=entities)
        self._now = self._now.replace(state=now, t=np.int32(state["time"]))
        observation = self._observe(now)
        self._now = self._now.replace(observation=observation)
        return np.asarray(observation).astype(np.uint8)


def port(name: str, view: bool, **options: Any) -> Callable[[], Port]:
    """A maker of games of Navix, which are compiled when the first one is made."""
    made: list[tuple[Any, tuple[Callable[..., Any], ...]]] = []

    def make() -> Port:
        if not made:
            import jax
            import navix

            observe = navix.observations.symbolic_first_person if view else navix.observations.symbolic
            env = navix.make(name, observation_fn=observe, **options)
            made.append((env, (jax.jit(env.reset), jax.jit(env._step), jax.jit(observe))))
        return Port(*made[0])

    return make


def before_a_door(rng: np.random.Generator) -> State:
    """DoorKey with the agent near the door, which is locked, closed or open, and the key in the grid or carried."""
    cells = np.tile(np.array(EMPTY), (8, 8, 1))
    cells[[0, -1]] = cells[:, [0, -1]] = WALL
    column, row = (int(value) for value in rng.integers(2, 6, 2))
    cells[:, column] = WALL
    cells[row, column] = [DOOR, YELLOW, rng.integers(3)]
    cells[6, 6] = [GOAL, 1, 0]
    carries = bool(rng.integers(2))
    if not carries:
        cells[rng.integers(1, 7), 1] = [KEY, YELLOW, 0]
    place = (row, column - 1) if rng.random() < 0.5 else (int(rng.integers(1, 7)), column + 1)
    if cells[place][0] != EMPTY[0]:
        place = row, column + 1
    return {
        "seed": 0,
        "cells": json.dumps(cells.tolist()),
        "row": place[0],
        "column": place[1],
        "direction": int(rng.integers(4)),
        "carrying": json.dumps([KEY, YELLOW, 0]) if carries else None,
        "time": 0,
    }


def world(name: str, size: int, *, view: bool = False, limit: int | None = None, seen: bool = True) -> World:
    """An environment of both; ``view``: as the agent sees it, instead of the whole grid.

    limit: of steps, of both; None: as they are shipped. With one, rewards are not compared, so that all else is.
    seen: whether observations are compared, or states alone.
    """
    options = {} if limit is None else {"max_steps": limit}
    paid = Tolerance(ignored=True, reason="Navix pays 1 whenever the goal is reached")
    tolerances = {} if limit is None else {"reward": paid, "components": paid}
    if not seen:
        tolerances["observation"] = Tolerance(ignored=True, reason="Navix draws a carried key into a corner")
    pairing = Pairing(
        name=name + "-view" * view + "-as-shipped" * (limit is None),
        games={
            "minigrid": lambda: Original(f"MiniGrid-{name}", options, view),
            "navix": port(f"Navix-{name}", view, **options),
        },
        tolerances=tolerances,
        starts={"door": before_a_door} if name.startswith("DoorKey") else {},
        actions=ACTIONS,
        observation_shape=(7, 7, 3) if view else (size, size, 3),
        state_fields=FIELDS,
    )
    return replace(pairing.world(), draws=False)  # some begin in one state


EMPTY_AS_SHIPPED = world("Empty-8x8-v0", 8)
EMPTY_ROOM = world("Empty-8x8-v0", 8, limit=256)
DOOR_KEY = world("DoorKey-8x8-v0", 8, limit=640)
DOOR_KEY_STATES = world("DoorKey-8x8-v0", 8, limit=640, seen=False)
DOOR_KEY_VIEW = world("DoorKey-8x8-v0", 8, view=True, limit=640)
EMPTY_VIEW = world("Empty-8x8-v0", 8, view=True, limit=256)
LAVA_GAP = world("LavaGapS7-v0", 7, limit=196)
