"""Orchard for the tests of the trainer: rollouts store whole games, and one kind has levels and curricula."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jax import Array
from orchard.env import OrchardJaxEnv
from orchard.in_jax import Orchard

LEVELS = 4
RESEEDED = 1000
"""Added to a game's score wherever it is reseeded, to distinguish it from a natural one."""


class PackedOrchard(OrchardJaxEnv):
    """Compact observations are games: whole numbers, of which floats are made where they are needed."""

    def compact(self, state: Orchard) -> Orchard:
        return state

    def expand(self, compact: Orchard) -> Array:
        observe = self.observe
        for _ in range(jnp.ndim(compact.turn)):
            observe = jax.vmap(observe)
        return observe(compact)


class Levelled(PackedOrchard):
    """A level lasts two turns; the curriculum "late" begins in the third turn with a score of 99."""

    levels = LEVELS

    def level(self, state: Orchard) -> Array:
        return jnp.minimum(state.turn // 2, LEVELS - 1)

    def reseed(self, state: Orchard, seed: Array) -> Orchard:
        return super().reseed(state, seed)._replace(score=state.score + RESEEDED)

    def _late(self, seed: Array) -> Orchard:
        return self.reset(seed)._replace(turn=jnp.int32(2), score=jnp.int32(99))

    def curricula(self) -> Mapping[str, Callable[[Array], Orchard]]:
        return {"late": self._late}
