"""Classic control of Gymnasium; its JAX versions, ``gymnasium.envs.phys2d``; and those of Gymnax, with time limits.

All begin where Gymnasium's reset puts them. States are in float32, as the JAX versions have them.
"""

from typing import Any

import gymnax as library
import numpy as np
from gymnasium import make
from gymnasium.envs.phys2d import cartpole, pendulum
from policies import POLICIES

from rlparity import Box, Tolerance, World
from rlparity.adapters import GymGame, Pairing, functional_game, gymnax_game


def observe(env: Any) -> Any:
    """What Gymnasium's game shows."""
    return np.float32(getattr(env, "_get_obs", getattr(env, "_get_ob", lambda: env.state))())


def original(name: str) -> GymGame:
    """Gymnasium's game."""
    return GymGame(
        lambda: make(name),
        lambda env: {"state": np.array(env.state, np.float32).tolist()},
        lambda state, env: setattr(env, "state", np.array(state["state"], np.float64)),
        observe,
        float32=True,
    )


def gymnax(name: str, *fields: str) -> Any:
    """A maker of Gymnax's games."""
    return gymnax_game(
        *library.make(name),
        to_dict=lambda state: {"state": [getattr(state, field).item() for field in fields]},
        from_dict=lambda it, state: state.replace(
            time=0, **dict(zip(fields, map(np.float32, it["state"]), strict=True))
        ),
    )


def phys2d(env: Any, limit: int) -> Any:
    """A maker of the games of a functional environment."""
    return functional_game(
        env,
        env.get_default_params(),
        to_dict=lambda state: {"state": state.tolist()},
        from_dict=lambda values, _: np.float32(values["state"]),
        time_limit=limit,
    )


def world(name: str, actions: Any, fields: tuple[str, ...], policy: str = "", **others: Any) -> World:
    """An environment with what there is of it; ``fields`` of Gymnax's state are Gymnasium's numbers."""
    near = Tolerance(ulps=8, absolute=2e-5, relative=1e-5, any_dtype=True, reason="float32 and float64")
    return Pairing(
        name=name.lower(),
        games={"gymnasium": lambda: original(name), "gymnax": gymnax(name, *fields), **others},
        actions=actions,
        state_fields=("state",),
        tolerances=dict.fromkeys(("observation", "state", "reward", "components"), near),
        policies={policy: POLICIES[policy]} if policy else {},
        accept=("observation_space is declared differently",) if policy == "upright" else (),  # Gymnax's velocities
        mirrored=True,
    ).world()


POLE = "x", "x_dot", "theta", "theta_dot"
CART_POLE = world("CartPole-v1", ("left", "right"), POLE, "upright", phys2d=phys2d(cartpole.CartPoleFunctional(), 500))
MOUNTAIN_CAR = world("MountainCar-v0", ("left", "none", "right"), ("position", "velocity"), "rocking")
LINKS = "joint_angle1", "joint_angle2", "velocity_1", "velocity_2"
ACROBOT = world("Acrobot-v1", ("-1", "0", "1"), LINKS, "swinging")
TURN = phys2d(pendulum.PendulumFunctional(), 200)
PENDULUM = world("Pendulum-v1", Box(-2.0, 2.0, (1,)), ("theta", "theta_dot"), phys2d=TURN)
