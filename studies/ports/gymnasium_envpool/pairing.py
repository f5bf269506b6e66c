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
from toy_text import deal, follow, place_hands, state_of

from rlparity import Box, Tolerance, World
from rlparity.adapters import GymGame, Pairing
from rlparity.adapters.named import EnvPoolGame
from rlparity.adapters.single import Outcome


class Original(GymGame):
    """Gymnasium's game; ``place`` puts it into the state of a first observation, ``draw`` gives a step's generator."""

    def __init__(self, name: str, place: Any, draw: Any) -> None:
        mask = (lambda env: env.action_mask(env.s)) if name.startswith("Taxi") else None
        super().__init__(lambda: gymnasium.make(name, disable_env_checker=True), mask=mask)
        self._twin, self._place, self._draw = EnvPoolGame(partial(pooled, name)), place, draw

    def begin(self, seed: int) -> Any:
        super().begin(seed)
        shown = self._twin.begin(seed)
        self._place(self._inner, shown)
        return shown

    def act(self, action: Any) -> Outcome:
        if self._draw:
            self._inner.np_random = self._draw(self._inner, action, self._twin.act(action))
        outcome = super().act(action)
        shown = np.asarray(outcome.observation)
        shown = shown.astype(np.int32 if shown.dtype.kind == "i" else np.float32)
        return Outcome(shown, float(np.float32(outcome.reward)), outcome.terminated, outcome.truncated)


def world(
    name: str, actions: Any, shape: int, place: Any, draw: Any = None, policy: str = "", far: float = 0, **more: Any
) -> World:
    """An environment of both; observations and rewards are ``far`` apart, since the start is told in float32."""
    rounding = Tolerance(absolute=far, relative=far, reason="the start is told in float32")
    return Pairing(
        name=name.lower().replace("/", "-"),
        games={"gymnasium": lambda: Original(name, place, draw), "envpool": lambda: EnvPoolGame(partial(pooled, name))},
        actions=actions,
        observation_shape=(shape,) if shape else (),
        tolerances=dict.fromkeys(("observation", "reward", "components"), rounding) if far else {},
        policies={policy: POLICIES[policy]} if policy else {},
        **{"draws": None} | more,
    ).world()


ENDLESS = ("time_limit is declared differently",)
"""None by Gymnasium, 2^31 - 1 steps by EnvPool."""
SPACE = ("observation_space is declared differently",)
"""A tuple by Gymnasium and an array by EnvPool; without bounds by phys2d."""
WAYS = "left", "down", "right", "up"
CELL, STATE = state_of("s", int), state_of("state", np.float64)
ANGLES = state_of("state", lambda o: np.array([np.arctan2(o[1], o[0]), np.arctan2(o[3], o[2]), *o[4:]], np.float64))
TURN = state_of("state", lambda o: np.array([np.arctan2(o[1], o[0]), o[2]], np.float64))
TAXI = world("Taxi-v4", ("south", "north", "east", "west", "pick", "drop"), 0, CELL)
CLIFF = "up", "right", "down", "left"
CLIFF_WALKING = world("CliffWalking-v1", CLIFF, 0, CELL, draws=False, accept=ENDLESS)
CLIFF_WALKING_SLIPPERY = world("CliffWalkingSlippery-v1", CLIFF, 0, CELL, follow, accept=ENDLESS)
FROZEN_LAKE = world("FrozenLake-v1", WAYS, 0, CELL, follow)
FROZEN_LAKE_8 = world("FrozenLake8x8-v1", WAYS, 0, CELL, follow)
BLACKJACK = world("Blackjack-v1", ("stick", "hit"), 3, place_hands, deal, policy="basic", accept=ENDLESS + SPACE)
CART_POLE = world("CartPole-v1", ("left", "right"), 4, STATE, policy="upright", far=1e-4)
PHYS2D_CART_POLE = world("phys2d/CartPole-v1", ("left", "right"), 4, STATE, policy="upright", far=1e-4, accept=SPACE)
MOUNTAIN_CAR = world("MountainCar-v0", ("left", "none", "right"), 2, STATE, policy="rocking", far=1e-4)
MOUNTAIN_CAR_CONTINUOUS = world("MountainCarContinuous-v0", Box(-1.0, 1.0, (1,)), 2, STATE, far=1e-4)
ACROBOT = world("Acrobot-v1", ("-1", "0", "1"), 6, ANGLES, policy="swinging", far=1e-3)
PENDULUM = world("Pendulum-v1", Box(-2.0, 2.0, (1,)), 3, TURN, far=1e-3)
