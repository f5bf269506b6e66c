"""Classic control of Gymnasium; its JAX versions, ``gymnasium.envs.phys2d``; and those of Gymnax.

States are in float32, as both JAX versions have them; the original's float64 is rounded where a step begins.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlparity import State, Tolerance, World
from rlparity.adapters.gymnasium import GymGame
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.pytree import PytreeGame, gymnax_game
from rlparity.adapters.single import SingleGame
from rlparity.spaces import Box

ROUNDING = Tolerance(ulps=8, absolute=2e-5, reason="float32 and float64")
ANY = Tolerance(ulps=8, absolute=2e-5, any_dtype=True, reason="float32 and float64")


def original(name: str, fields: Sequence[str]) -> Callable[[], SingleGame]:
    """An environment of Gymnasium without its time limit."""

    def make() -> Any:
        import gymnasium

        return gymnasium.make(name).unwrapped

    def values(env: Any) -> State:
        return dict(zip(fields, np.array(env.state, np.float32).tolist(), strict=True))

    def place(state: State, env: Any) -> None:
        values = np.array([state[field] for field in fields], np.float64)
        env.state = tuple(values) if isinstance(env.state, tuple) else values

    def observe(env: Any) -> Any:
        for method in ("_get_obs", "_get_ob"):
            if hasattr(env, method):
                return np.float32(getattr(env, method)())
        return np.float32(env.state)

    return lambda: GymGame(make, values, place, observe)


def gymnax(name: str, fields: Sequence[str]) -> Callable[[], SingleGame]:
    """An environment of Gymnax; its time limit is another one only where Gymnasium's wrapper has it."""
    made: list[Callable[[], SingleGame]] = []

    def to_dict(state: Any) -> State:
        return {field: float(np.asarray(getattr(state, field))) for field in fields}

    def from_dict(values: State, state: Any) -> Any:
        return state.replace(time=0, **{field: np.float32(values[field]) for field in fields})

    def make() -> SingleGame:
        if not made:
            import gymnax as library

            env, params = library.make(name)
            params = params.replace(max_steps_in_episode=2**30)
            made.append(gymnax_game(env, params, to_dict=to_dict, from_dict=from_dict))
        return made[0]()

    return make


def phys2d(kind: str, fields: Sequence[str]) -> Callable[[], SingleGame]:
    """A functional environment of gymnasium.envs.phys2d."""
    made: list[Callable[[], SingleGame]] = []

    def make() -> SingleGame:
        if not made:
            import jax
            import jax.numpy as jnp
            from gymnasium.envs.phys2d import cartpole, pendulum

            env: Any = {"cartpole": cartpole.CartPoleFunctional, "pendulum": pendulum.PendulumFunctional}[kind]()
            params = env.get_default_params() if hasattr(env, "get_default_params") else None
            extra = {} if params is None else {"params": params}

            def reset(key: Any) -> Any:
                state = env.initial(key, **extra)
                return env.observation(state, None, **extra), state

            def step(key: Any, state: Any, action: Any) -> Any:
                after = env.transition(state, action, None, **extra)
                reward = env.reward(state, action, after, None, **extra)
                terminal = jnp.bool_(env.terminal(after, None, **extra))
                return env.observation(after, None, **extra), after, reward, terminal, False

            functions = jax.jit(reset), jax.jit(step), jax.jit(lambda state: env.observation(state, None, **extra))

            def to_dict(state: Any) -> State:
                return dict(zip(fields, np.asarray(state).tolist(), strict=True))

            def from_dict(values: State, state: Any) -> Any:
                return np.array([values[field] for field in fields], np.float32)

            made.append(lambda: PytreeGame(*functions, to_dict=to_dict, from_dict=from_dict))
        return made[0]()

    return make


LIMIT = "time_limit is declared differently"
"""Games are cut off by neither side; Gymnax has no way to declare that."""
BOUNDS = "observation_space is declared differently"
"""Of velocities: infinite by Gymnasium, the largest float32 by Gymnax."""


def world(
    name: str,
    fields: tuple[str, ...],
    actions: tuple[str, ...] | Box,
    shape: int,
    kind: str = "",
    accept: tuple[str, ...] = (LIMIT,),
) -> World:
    """An environment with what there is of it."""
    games = {"gymnasium": original(name, fields), "gymnax": gymnax(name, fields)}
    return Pairing(
        name=name.lower(),
        games=games | ({"phys2d": phys2d(kind, fields)} if kind else {}),
        actions=actions,
        observation_shape=(shape,),
        state_fields=fields,
        tolerances={"observation": ROUNDING, "state": ROUNDING, "reward": ANY, "components": ANY},
        accept=accept,
    ).world()


CART_POLE_FIELDS = "x", "x_dot", "theta", "theta_dot"
CART_POLE = world("CartPole-v1", CART_POLE_FIELDS, ("left", "right"), 4, "cartpole", (LIMIT, BOUNDS))
MOUNTAIN_CAR = world("MountainCar-v0", ("position", "velocity"), ("left", "none", "right"), 2)
ACROBOT = world("Acrobot-v1", ("joint_angle1", "joint_angle2", "velocity_1", "velocity_2"), ("-1", "0", "1"), 6)
PENDULUM = world("Pendulum-v1", ("theta", "theta_dot"), Box(-2.0, 2.0, (1,)), 3, "pendulum")
