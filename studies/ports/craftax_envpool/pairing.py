"""Craftax in JAX, and EnvPool's port of it to C++, which draws the same random numbers from the same seeds."""

from functools import cache, partial
from typing import Any

import jax
import numpy as np
from craftax.craftax.constants import Action
from craftax.craftax_classic.constants import Action as ClassicAction
from craftax.craftax_env import make_craftax_env_from_name
from pools import pooled

from rlparity import Tolerance, World
from rlparity.adapters import Pairing
from rlparity.adapters.named import EnvPoolGame
from rlparity.adapters.single import Outcome, SingleGame

LIGHT = Tolerance(absolute=1e-6, reason="daylight is a cosine of another library")


@cache
def environment(name: str, **options: bool) -> tuple[Any, Any]:
    """Reset and step of Craftax, compiled."""
    env: Any = make_craftax_env_from_name(name, auto_reset=False)
    params = env.default_params.replace(**options)
    return jax.jit(lambda key: env.reset(key, params)), jax.jit(lambda *game: env.step(*game, params))


class Original(SingleGame):
    """A game of Craftax; EnvPool splits the key of its seed once a step, and plays with the second half."""

    def __init__(self, name: str, **options: bool) -> None:
        self._reset, self._step = environment(name, **options)

    def begin(self, seed: int) -> Any:
        self._key = jax.random.PRNGKey(seed)
        shown, self._state = self._reset(self._key)
        return np.asarray(shown)

    def act(self, action: int) -> Outcome:
        self._key, key = jax.random.split(self._key)
        shown, self._state, reward, done, _ = self._step(key, self._state, action)
        return Outcome(np.asarray(shown), float(reward), bool(done), False)


def world(name: str, actions: Any, size: int, **options: bool) -> World:
    """The world of both; the options have the same names in both."""
    ported = partial(pooled, name, **options)
    return Pairing(
        name="-".join((name.lower().removesuffix("-v1"), *options)).replace("_", "-"),
        games={"craftax": lambda: Original(name, **options), "envpool": lambda: EnvPoolGame(ported)},
        actions=tuple(each.name.lower() for each in actions),
        observation_shape=(size,),
        tolerances={"observation": LIGHT},
        accept=("infos are left out",),
    ).world()


CLASSIC = world("Craftax-Classic-Symbolic-v1", ClassicAction, 1345)
FULL = world("Craftax-Symbolic-v1", Action, 8268)
FULL_GOD = world("Craftax-Symbolic-v1", Action, 8268, god_mode=True)
