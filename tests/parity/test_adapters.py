"""Environments of Gymnasium and Gymnax, held to each other."""

from __future__ import annotations

from typing import Any

import gymnasium
import gymnax
import numpy as np

from rlparity import State, Tolerance, World
from rlparity.adapters.gymnasium import GymGame
from rlparity.adapters.pairing import Pairing
from rlparity.adapters.pytree import gymnax_game
from rlparity.core.lockstep import Settings, run

FIELDS = ("x", "x_dot", "theta", "theta_dot")
ROUNDING = Tolerance(ulps=4, absolute=1e-6, reason="Gymnax computes in float32")


def make() -> Any:  # noqa: ANN401 - an environment
    return gymnasium.make("CartPole-v1").unwrapped


def place(state: State, env: Any) -> None:  # noqa: ANN401 - an environment
    env.state = tuple(state[name] for name in FIELDS)


def values_of(env: Any) -> State:  # noqa: ANN401 - an environment
    """The state as Gymnax has it, in float32."""
    return dict(zip(FIELDS, np.array(env.state, np.float32).tolist(), strict=True))


def original() -> GymGame:
    return GymGame(make, values_of, place, lambda env: np.float32(env.state))


def cart_pole(**parts: Any) -> World:  # noqa: ANN401 - of a pairing
    env, params = gymnax.make("CartPole-v1")
    port = gymnax_game(
        env,
        params.replace(**parts),
        to_dict=lambda state: {name: getattr(state, name).item() for name in FIELDS},
        from_dict=lambda values, state: state.replace(time=0, **{name: np.float32(values[name]) for name in FIELDS}),
    )
    return Pairing(
        name="cart-pole",
        games={"gym": original, "gymnax": port},
        actions=("left", "right"),
        observation_shape=(4,),
        state_fields=FIELDS,
        tolerances={"observation": ROUNDING, "state": ROUNDING},
    ).world()


def test_a_port_is_compared_from_injected_states() -> None:
    settings = Settings(games=4, steps=12, mode="injected")
    assert run(cart_pole(), ("gym", "gymnax"), settings).divergences == []
    (found,) = run(cart_pole(gravity=9.81), ("gym", "gymnax"), settings).divergences
    assert {"observation[3]"} <= {difference.field for difference in found.differences}
