"""MiniGrid, and Navix, which plays its environments in JAX: every id that both have.

A game begins where Navix begins it: MiniGrid gets that grid, agent and target. A world is a family of ids, of which
the seed chooses one. Both show the whole grid, as rows of (type, colour, state), and what is carried; in the worlds of
views what the agent sees.
"""

from functools import partial
from typing import Any

import gymnasium
import jax
import layouts
import numpy as np
from policies import explorer

from rlparity import World
from rlparity.adapters import Outcome, Pairing, SingleGame, resets_world

ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


class Original(SingleGame):
    """A game of MiniGrid."""

    def __init__(self, ids: list[str], side: int) -> None:
        self._ids, self._side = ids, side

    def begin(self, seed: int) -> Any:
        name = self._ids[seed % len(self._ids)]
        self._env: Any = gymnasium.make(f"MiniGrid-{name}").unwrapped
        self._env.reset(seed=seed)
        layouts.lay(self._env, name, seed)
        return self._shown()

    def _shown(self) -> Any:
        env = self._env
        if not self._side:
            return env.gen_obs()["image"].transpose(1, 0, 2)
        grid = env.grid.encode()
        grid[tuple(env.agent_pos)] = layouts.AGENT, 0, env.agent_dir
        carried = np.array(env.carrying.encode() if env.carrying else (0, 0, 0), np.uint8)
        return {"grid": layouts.padded(grid.transpose(1, 0, 2), self._side, self._ids[0]), "carried": carried}

    def act(self, action: int) -> Outcome:
        _, reward, terminated, truncated, _ = self._env.step(action)
        if not self._side:
            return Outcome(self._shown(), 0.0, False, False)
        return Outcome(self._shown(), np.float32(reward), bool(terminated), bool(truncated))


class Port(Original):
    """A game of Navix."""

    def begin(self, seed: int) -> Any:
        _, reset, self._step = layouts.environment(self._ids[seed % len(self._ids)])
        self._now = reset(jax.random.key(seed))
        return self._shown()

    def _shown(self) -> Any:
        state = self._now.state
        if not self._side:
            return np.asarray(layouts.first_person(state))
        return {
            "grid": layouts.padded(np.asarray(self._now.observation), self._side, self._ids[0]),
            "carried": layouts.carried(state),
        }

    def act(self, action: int) -> Outcome:
        self._now = now = self._step(self._now, action)
        if not self._side:
            return Outcome(self._shown(), 0.0, False, False)
        return Outcome(self._shown(), np.float32(now.reward), bool(now.step_type == 2), bool(now.step_type == 1))


def world(name: str, ids: list[str], side: int = 0) -> World:
    """Some ids; side: of the largest grid, 0 for what the agent sees."""
    games = {"minigrid": lambda: Original(ids, side), "navix": lambda: Port(ids, side)}
    shape: Any = {"grid": (side, side, 3), "carried": (3,)} if side else (7, 7, 3)
    policies = {"explorer": explorer} if side else {}
    return Pairing(name, games, ACTIONS, shape, draws=None, policies=policies).world()


def __getattr__(name: str) -> World:
    """The world of a family, of what agents see through walls (OPEN_VIEWS) or not (VIEWS), or of resets."""
    shared = layouts.shared_ids()
    if name == "RESETS":
        readers = {"minigrid": layouts.resets_of_minigrid, "navix": layouts.resets_of_navix}
        return resets_world(name, **{side: partial(layouts.resets, read) for side, read in readers.items()})
    if name in ("VIEWS", "OPEN_VIEWS"):
        return world(name, [each for each in shared if layouts.is_open(each) == (name == "OPEN_VIEWS")])
    if not (ids := [each for each in shared if layouts.family(each) == name]):
        raise AttributeError(name)
    return world(name, ids, max(max(env.height, env.width) for env, *_ in map(layouts.environment, ids)))
