"""A world whose states are a few vectors, because each array that a program takes or returns costs it microseconds."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from rlworldkit.jax.env import JaxEnv, State, StepOutput

Joined = Mapping[str, Array]
"""A state's scalars in one vector for each dtype, and its arrays with an axis of size 1 at their end."""


class Layout(NamedTuple):
    """Where the leaves of a state lie when they are joined.

    structure: of the state's pytree. names: of the vector that each leaf lies in.
    """

    structure: Any
    names: tuple[str, ...]

    def join(self, state: State, numpy: Any = jnp) -> Joined:
        """Join the leaves of a state, or of many with leading axes, by the ``stack`` of JAX or ``numpy``."""
        parts = defaultdict[str, list[Array]](list)
        for name, leaf in zip(self.names, jax.tree.leaves(state), strict=True):
            parts[name].append(leaf)
        return {name: numpy.stack(leaves, axis=-1) for name, leaves in parts.items()}

    def split(self, joined: Joined) -> State:
        """Return the state, or states with leading axes, of joined leaves; views where those are of NumPy."""
        rest = {
            name: iter([values[..., place] for place in range(values.shape[-1])]) for name, values in joined.items()
        }
        return jax.tree.unflatten(self.structure, [next(rest[name]) for name in self.names])


def _of_state(name: str) -> Any:
    """Make the method of this name, called with the split state."""
    return lambda env, state: getattr(env._original.with_prices(env.prices), name)(env._layout.split(state))


def layout_of(states: State) -> Layout:
    """Lay out states whose leaves have one leading axis of games."""
    leaves, structure = jax.tree.flatten(states)
    names = (leaf.dtype.name if leaf.ndim == 1 else f"leaf{number}" for number, leaf in enumerate(leaves))
    return Layout(structure, tuple(names))


class _JoinedMethods(JaxEnv):
    """Mixin for a ``JaxEnv`` whose games go on in joined states; ``reset`` and the dicts still have the world's own."""

    _original: JaxEnv
    _layout: Layout

    observe, seed, mask, compact, arrays, facts = map(
        _of_state, ("observe", "seed", "mask", "compact", "arrays", "facts")
    )

    def step(self, state: State, action: Array) -> StepOutput:
        step = self._original.with_prices(self.prices).step(self._layout.split(state), action)
        final = self._layout.join(step.final)
        return step._replace(state=final, final=final)

    def step_autoreset(self, state: State, action: Array, truncate: Array | None = None) -> StepOutput:
        original, split = self._original.with_prices(self.prices), self._layout.split(state)
        step = original.step_autoreset(split, action, truncate)
        return step._replace(state=self._layout.join(step.state), final=self._layout.join(step.final))

    def next_game(self, state: State) -> State:
        return self._layout.join(self._original.with_prices(self.prices).next_game(self._layout.split(state)))


@cache
def joined_env(env: JaxEnv, layout: Layout) -> JaxEnv:
    """Make an environment of the same world whose states are joined; always the same object for the same arguments."""
    kind = type(env)
    joined: Any = object.__new__(
        type(f"Joined{kind.__name__}", (_JoinedMethods, kind), {"__module__": kind.__module__})
    )
    vars(joined).update(vars(env), _original=env, _layout=layout)
    return joined
