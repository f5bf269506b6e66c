"""Environments of Gymnasium, and those of EnvPool in C++, with their time limits.

EnvPool cannot be put into a state. Its first observation tells the first state, in which Gymnasium's game begins too;
from there on each plays by itself.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rlparity import Tolerance, World
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.single import Outcome, SingleGame


def pool(name: str, seed: int) -> Any:
    """A pool of one environment."""
    import envpool

    return envpool.make(name, env_type="gymnasium", num_envs=1, seed=seed)


def placed(name: str, seed: int) -> tuple[Any, Any]:
    """The first observation of an episode, and the state that it tells."""
    observation, info = pool(name, seed).reset()
    told = info.get("state")
    # Acrobot's observations are of angles, which it tells otherwise
    return observation[0], observation[0] if told is None else np.concatenate([told[0], observation[0, 4:]])


def _form(observation: Any) -> ArrayLike:
    """An observation as an array; numbers of states in 32 bits, as EnvPool has them."""
    values = np.atleast_1d(np.asarray(observation))
    return values.astype(np.int32) if np.issubdtype(values.dtype, np.integer) else values


class Original(SingleGame):
    """Gymnasium's."""

    def __init__(self, name: str, envpool_name: str, state: str) -> None:
        import gymnasium

        self._env: Any = gymnasium.make(name, disable_env_checker=True)
        self._envpool_name, self._state = envpool_name, state

    def begin(self, seed: int) -> ArrayLike:
        self._env.reset(seed=seed)
        observation, state = placed(self._envpool_name, seed)
        value: Any = int(state) if self._state == "s" else np.array(state, np.float64)
        if self._state == "state" and isinstance(self._env.unwrapped.state, tuple):
            value = tuple(value)
        setattr(self._env.unwrapped, self._state, value)
        return _form(observation)

    def act(self, action: int) -> Outcome:
        observation, reward, terminated, truncated, _ = self._env.step(action)
        return Outcome(_form(observation), np.float32(reward), bool(terminated), bool(truncated))

    def close(self) -> None:
        self._env.close()


class Port(SingleGame):
    """EnvPool's."""

    def __init__(self, name: str) -> None:
        self._name = name

    def begin(self, seed: int) -> ArrayLike:
        self._pool = pool(self._name, seed)
        observation, _ = self._pool.reset()
        return _form(observation[0])

    def act(self, action: int) -> Outcome:
        observation, reward, terminated, truncated, _ = self._pool.step(np.array([action], np.int32))
        return Outcome(_form(observation[0]), reward[0], bool(terminated[0]), bool(truncated[0]))


def world(
    name: str,
    actions: tuple[str, ...],
    shape: int,
    *,
    state: str = "state",
    envpool_name: str = "",
    tolerances: Mapping[str, Tolerance] | None = None,
) -> World:
    """An environment of both; ``state``: the attribute that Gymnasium's keeps its state in."""
    theirs = envpool_name or name
    games: dict[str, Callable[[], SingleGame]] = {
        "gymnasium": lambda: Original(name, theirs, state),
        "envpool": lambda: Port(theirs),
    }
    return Pairing(
        name=name.lower().replace("/", "-"),
        games=games,
        actions=actions,
        observation_shape=(shape,),
        draws=False,
        tolerances=tolerances or {},
    ).world()


ROUNDING = {"observation": Tolerance(absolute=1e-4, relative=1e-4, reason="the start is told in float32")}
CHAOS = {"observation": Tolerance(absolute=1e-3, relative=1e-3, reason="the start is told in float32")}
TAXI = world("Taxi-v4", ("south", "north", "east", "west", "pick", "drop"), 1, state="s", envpool_name="Taxi-v3")
CLIFF_WALKING = world("CliffWalking-v1", ("up", "right", "down", "left"), 1, state="s")
CART_POLE = world("CartPole-v1", ("left", "right"), 4, tolerances=ROUNDING)
PHYS2D_CART_POLE = world("phys2d/CartPole-v1", ("left", "right"), 4, tolerances=ROUNDING)
MOUNTAIN_CAR = world("MountainCar-v0", ("left", "none", "right"), 2, tolerances=ROUNDING)
ACROBOT = world("Acrobot-v1", ("-1", "0", "1"), 6, tolerances=CHAOS)
