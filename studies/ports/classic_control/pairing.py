"""Classic control of Gymnasium; its JAX versions, ``gymnasium.envs.phys2d``; and those of Gymnax, with time limits.

All begin where Gymnasium's reset puts them. States are in float32, as the JAX versions have them.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import gymnax as library
import jax.numpy as jnp
import numpy as np
from gymnasium import make
from gymnasium.envs.phys2d import cartpole, pendulum
from policies import POLICIES

from rlparity import Box, State, Tolerance, World
from rlparity.adapters import GymGame, Pairing, PytreeGame, gymnax_game


def observe(env: Any) -> Any:
    """What Gymnasium's game shows."""
    method = getattr(env, "_get_obs", getattr(env, "_get_ob", lambda: env.state))
    return np.float32(method())


def original(name: str, **rules: Any) -> GymGame:
    """Gymnasium's game."""
    return GymGame(
        lambda: make(name, **rules),
        lambda env: {"state": np.array(env.state, np.float32).tolist()},
        lambda state, env: setattr(env, "state", np.array(state["state"], np.float64)),
        observe,
        float32=True,
    )


@cache
def gymnax(name: str, fields: Sequence[str]) -> Any:
    """A maker of Gymnax's games."""

    def from_dict(values: State, state: Any) -> Any:
        return state.replace(time=0, **dict(zip(fields, np.array(values["state"], np.float32), strict=True)))

    def to_dict(state: Any) -> State:
        return {"state": [getattr(state, field).item() for field in fields]}

    return gymnax_game(*library.make(name), to_dict=to_dict, from_dict=from_dict)


@cache
def phys2d(env: Any, limit: int, **rules: Any) -> Any:
    """A maker of the games of a functional environment."""
    params = env.get_default_params(**rules)

    def observe(state: Any) -> Any:
        return env.observation(state, None, params)

    def reset(key: Any) -> Any:
        state = env.initial(key, params)
        return observe(state), state

    def step(_: Any, state: Any, action: Any) -> tuple[Any, ...]:
        after = env.transition(state, action, None, params)
        reward = jnp.float32(env.reward(state, action, after, None, params))
        return observe(after), after, reward, jnp.bool_(env.terminal(after, None, params))

    def to_dict(state: Any) -> State:
        return {"state": state.tolist()}

    def from_dict(values: State, _: Any) -> Any:
        return np.float32(values["state"])

    return lambda: PytreeGame(reset, step, observe, to_dict=to_dict, from_dict=from_dict, time_limit=limit)


def world(name: str, actions: Any, shape: int, games: dict[str, Any], policy: str = "", **rules: Any) -> World:
    """An environment with what there is of it."""
    near = Tolerance(ulps=8, absolute=2e-5, relative=1e-5, any_dtype=True, reason="float32 and float64")
    return Pairing(
        name=name.lower() + "".join(f"-{rule}" for rule in rules),
        games={"gymnasium": lambda: original(name, **rules), **games},
        actions=actions,
        observation_shape=(shape,),
        state_fields=("state",),
        tolerances={"observation": near, "state": near, "reward": near, "components": near},
        policies={policy: POLICIES[policy]} if policy else {},
        accept=("observation_space is declared differently",) if policy == "upright" else (),  # Gymnax's velocities
        mirrored=True,
    ).world()


SUTTON_BARTO = {"sutton_barto_reward": True}
CART_POLE_FIELDS = "x", "x_dot", "theta", "theta_dot"
CART_POLE_GAMES = {
    "gymnax": gymnax("CartPole-v1", CART_POLE_FIELDS),
    "phys2d": phys2d(cartpole.CartPoleFunctional(), 500),
}
CART_POLE = world("CartPole-v1", ("left", "right"), 4, CART_POLE_GAMES, "upright")
REWARDED = {"phys2d": phys2d(cartpole.CartPoleFunctional(), 500, **SUTTON_BARTO)}
CART_POLE_REWARDED = world("CartPole-v1", ("left", "right"), 4, REWARDED, "upright", **SUTTON_BARTO)
CAR = {"gymnax": gymnax("MountainCar-v0", ("position", "velocity"))}
MOUNTAIN_CAR = world("MountainCar-v0", ("left", "none", "right"), 2, CAR, "rocking")
LINKS = {"gymnax": gymnax("Acrobot-v1", ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"))}
ACROBOT = world("Acrobot-v1", ("-1", "0", "1"), 6, LINKS, "swinging")
SWING = {
    "gymnax": gymnax("Pendulum-v1", ("theta", "theta_dot")),
    "phys2d": phys2d(pendulum.PendulumFunctional(), 200),
}
PENDULUM = world("Pendulum-v1", Box(-2.0, 2.0, (1,)), 3, SWING)
