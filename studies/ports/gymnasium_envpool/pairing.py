"""Environments of Gymnasium, and those of EnvPool in C++, with their time limits.

EnvPool cannot be put into a state. Gymnasium's game begins in the state that EnvPool's first observation tells, and
draws what EnvPool drew, which a twin of EnvPool's game tells; what no draw can lead to, it does not follow.
"""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
from policies import POLICIES
from pools import pooled
from toy_text import follow

from rlparity import Box, Tolerance, World
from rlparity.adapters import GymGame, Pairing
from rlparity.adapters.named import EnvPoolGame
from rlparity.adapters.single import Outcome


class Original(GymGame):
    """Gymnasium's game; ``start(shown)`` is the state that EnvPool shows first, ``draw`` gives a step's generator."""

    def __init__(self, name: str, start: Any, draw: Any) -> None:
        mask = (lambda env: env.action_mask(env.s)) if name.startswith("Taxi") else None
        super().__init__(lambda: gymnasium.make(name, disable_env_checker=True), mask=mask)
        self._twin, self._told, self._draw = EnvPoolGame(partial(pooled, name)), start, draw

    def begin(self, seed: int) -> Any:
        super().begin(seed)
        shown = self._twin.begin(seed)
        vars(self._inner).update(self._told(shown))
        return shown

    def act(self, action: Any) -> Outcome:
        if self._draw:
            self._inner.np_random = self._draw(self._inner, action, self._twin.act(action))
        outcome = super().act(action)
        shown = np.asarray(outcome.observation)
        shown = shown.astype(np.int32 if shown.dtype.kind == "i" else np.float32)
        return Outcome(shown, float(np.float32(outcome.reward)), outcome.terminated, outcome.truncated)


def hands(shown: Any) -> dict[str, Any]:
    """Two cards of the player that count what is shown; the dealer's first one."""
    total, dealer, ace = map(int, shown)
    return {"player": [1, total - 11] if ace else [min(10, total - 2), max(2, total - 10)], "dealer": [dealer]}


def angles(shown: Any) -> dict[str, Any]:
    """The angles whose cosines and sines are shown, and their speeds."""
    pairs, speeds = np.split(shown, [2 * len(shown) // 3])
    return {"state": np.array([*map(np.arctan2, pairs[1::2], pairs[::2]), *speeds], np.float64)}


def world(
    name: str, actions: Any, start: Any, draw: Any = None, policy: str = "", far: float = 0, **more: Any
) -> World:
    """An environment of both; observations and rewards are ``far`` apart, since the start is told in float32."""
    rounding = Tolerance(absolute=far, relative=far, reason="the start is told in float32")
    return Pairing(
        name=name.lower().replace("/", "-"),
        games={"gymnasium": lambda: Original(name, start, draw), "envpool": lambda: EnvPoolGame(partial(pooled, name))},
        actions=actions,
        tolerances=dict.fromkeys(("observation", "reward", "components"), rounding) if far else {},
        policies={policy: POLICIES[policy]} if policy else {},
        **{"draws": None} | more,
    ).world()


ENDLESS = ("time_limit is declared differently",)
"""None by Gymnasium, 2^31 - 1 steps by EnvPool."""
SPACE = ("observation_space is declared differently",)
"""A tuple by Gymnasium and an array by EnvPool; without bounds by phys2d."""
WAYS = "left", "down", "right", "up"
CELL, STATE = lambda shown: {"s": int(shown)}, lambda shown: {"state": np.float64(shown)}
TAXI = world("Taxi-v4", ("south", "north", "east", "west", "pick", "drop"), CELL)
CLIFF = "up", "right", "down", "left"
CLIFF_WALKING = world("CliffWalking-v1", CLIFF, CELL, draws=False, accept=ENDLESS)
CLIFF_WALKING_SLIPPERY = world("CliffWalkingSlippery-v1", CLIFF, CELL, follow, accept=ENDLESS)
FROZEN_LAKE = world("FrozenLake-v1", WAYS, CELL, follow)
FROZEN_LAKE_8 = world("FrozenLake8x8-v1", WAYS, CELL, follow)
BLACKJACK = world("Blackjack-v1", ("stick", "hit"), hands, follow, policy="basic", accept=ENDLESS + SPACE)
CART_POLE = world("CartPole-v1", ("left", "right"), STATE, policy="upright", far=1e-4)
PHYS2D_CART_POLE = world("phys2d/CartPole-v1", ("left", "right"), STATE, policy="upright", far=1e-4, accept=SPACE)
MOUNTAIN_CAR = world("MountainCar-v0", ("left", "none", "right"), STATE, policy="rocking", far=1e-4)
MOUNTAIN_CAR_CONTINUOUS = world("MountainCarContinuous-v0", Box(-1.0, 1.0, (1,)), STATE, far=1e-4)
ACROBOT = world("Acrobot-v1", ("-1", "0", "1"), angles, policy="swinging", far=1e-3)
PENDULUM = world("Pendulum-v1", Box(-2.0, 2.0, (1,)), angles, far=1e-3)
