"""The multi-robot warehouse: rware, and its port to JAX in Jumanji, in the starts that the port draws."""

from functools import partial
from typing import Any

import jax
import numpy as np
from jumanji.environments.routing.robot_warehouse.env import RobotWarehouse
from jumanji.environments.routing.robot_warehouse.generator import RandomGenerator
from rware.warehouse import Direction, RewardType, Warehouse

from rlparity import MultiDiscrete, World
from rlparity.adapters import Outcome, Pairing, SingleGame, jumanji_game, starts_of

SIZES = {"shelf_columns": 3, "shelf_rows": 1, "column_height": 2, "sensor_range": 1, "request_queue_size": 4}
WAYS = [0, 3, 1, 2]
"""The port's directions, up, right, down and left, among those of rware."""


class Original(SingleGame):
    """A game of rware, whose next requests are drawn as the port draws them."""

    def __init__(self, start: Any, robots: int) -> None:
        limits = {"max_inactivity_steps": None, "max_steps": 500, "reward_type": RewardType.GLOBAL}
        self._start, self._env = start, Warehouse(n_agents=robots, msg_bits=0, **SIZES, **limits)

    def begin(self, seed: int) -> Any:
        env, start = self._env, self._start(seed)
        env.reset(seed=0)
        env.np_random, self._key = self, start.key
        for robot, row, column, way in zip(env.agents, *start.agents.position, start.agents.direction, strict=True):
            robot.x, robot.y, robot.dir = int(column), int(row), Direction(WAYS[way])
        env.request_queue = [env.shelfs[shelf] for shelf in start.request_queue]
        env._recalc_grid()
        return shown([env._make_obs(robot) for robot in env.agents])

    def choice(self, shelves: Any) -> Any:
        """One of the shelves, by the port's key."""
        self._key, key = jax.random.split(self._key)
        return shelves[int(jax.random.choice(key, len(shelves), replace=False))]

    def act(self, action: Any) -> Outcome:
        seen, rewards, done, *_ = self._env.step(action.tolist())
        return Outcome(shown(seen), float(rewards[0]), done, False)


def shown(seen: Any) -> Any:
    """What rware shows as Jumanji lays it out: row first, its directions, robots before shelves, not oneself."""
    own, cells = np.split(np.stack(seen), [8], axis=1)
    cells = cells.reshape(len(own), 9, 7)
    ways = np.concatenate([cells[..., :1], cells[..., 1:5][..., WAYS]], axis=-1) * cells[..., :1]
    parts = own[:, [1, 0, 2]], own[:, 3:7][:, WAYS], own[:, 7:], np.delete(ways, 4, axis=1), cells[..., 5:]
    return parted(np.concatenate([part.reshape(len(own), -1) for part in parts], axis=1).astype(np.int32))


def parted(rows: Any) -> dict[str, Any]:
    """Where each robot is, and the rest of what it sees."""
    return {"place": rows[:, :2], "view": rows[:, 2:]}


def warehouse(name: str, robots: int) -> World:
    """The world of both."""
    env = RobotWarehouse(RandomGenerator(num_agents=robots, **SIZES))
    original = partial(Original, starts_of(lambda key: env.reset(key)[0]), robots)
    port = jumanji_game(env, lambda observation: parted(observation.agents_view))
    shape = {"place": (robots, 2), "view": (robots, 64)}
    return Pairing(name, {"rware": original, "jumanji": port}, MultiDiscrete([5] * robots), shape).world()


WAREHOUSE, ALONE = warehouse("warehouse", 3), warehouse("warehouse-alone", 1)
