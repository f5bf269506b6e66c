"""A ``JaxEnv`` whose games are played by translated programs."""

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from rlparity.errors import UsageError
from rlworldkit.jax.batching import is_one_game
from rlworldkit.jax.env import JaxEnv, State
from rlworldkit.jax.marks import is_collecting
from rlworldkit.jax.native import compiler
from rlworldkit.jax.native.call import Kernel
from rlworldkit.jax.native.program import traced, translate
from rlworldkit.jax.native.translator import Untranslatable
from rlworldkit.jax.switches import switch
from rlworldkit.jax.target import is_tracing_for

_MOST_BYTES = 2**10
"""Largest input in bytes of a method that ``auto`` has played by a program: XLA plays larger games in half the time."""


def _played(name: str) -> Any:
    """Make the method of this name, played by a program."""
    return lambda env, *args: env._play(name, *args)


class _NativeMethods(JaxEnv):
    """Mixin for a ``JaxEnv`` whose methods call translated programs in place of the world's own.

    The world's own methods are called where marks or words are collected, and inside ``one_game``.
    """

    _own: JaxEnv
    _kernels: dict[Any, Callable[[list[Array]], Any] | None]
    _auto: bool

    reset, step, next_game, mask = map(_played, ("reset", "step", "next_game", "mask"))
    step_autoreset, compact = map(_played, ("step_autoreset", "compact"))

    def observe(self, state: State) -> Array:
        if is_collecting():
            return self._own.observe(state)
        # left to XLA: its vectors suit the floats of an observation
        return self._own.expand(jax.tree.map(lambda leaf: leaf[None], self.compact(state)))[0]

    def _play(self, name: str, *args: Any) -> Any:
        own = getattr(self._own.with_prices(self.prices), name)
        if is_one_game() or is_collecting() or switch("jax_disable_jit"):
            return own(*args)
        args = jax.tree.map(jnp.asarray, args)
        leaves, tree = jax.tree.flatten((jnp.asarray(self.prices, jnp.int32), *args))
        if self._auto and sum(leaf.size * leaf.dtype.itemsize for leaf in leaves[1:]) > _MOST_BYTES:
            return own(*args)
        key = name, is_tracing_for("cpu"), tree, tuple((leaf.shape, leaf.dtype.name) for leaf in leaves)
        if key not in self._kernels:
            self._kernels[key] = self._program(name, leaves, tree)
        play = self._kernels[key]
        return play(leaves) if play else own(*args)

    def _program(self, name: str, leaves: list[Array], tree: Any) -> Callable[[list[Array]], Any] | None:
        """Make a function of the leaves of prices and arguments; None if the method has no translation."""

        def play(prices: Array, *args: Any) -> Any:
            return getattr(self._own.with_prices(prices), name)(*args)

        shapes = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves])
        try:
            closed, results, reads = traced(play, *shapes)
            game = translate(closed)
        except Untranslatable as fault:
            sentence = f"{self.name}: XLA compiles {name}, since there is no translation of {fault}"
            if not self._auto:
                raise UsageError(f"{sentence}: choose --engine-backend auto.") from fault
            print(f"{sentence}.", file=sys.stderr)
            return None
        if source := compiler.source_of(game) if is_tracing_for("cpu") else "":
            compiler.start(source)
        kernel = Kernel(source, closed, _in_place(name, shapes[1], reads))
        return lambda leaves: jax.tree.unflatten(results, kernel(*(leaves[place] for place in reads)))


def _in_place(name: str, state: State, reads: list[int]) -> tuple[tuple[int, int], ...]:
    """Pair inputs with the outputs of a step that overwrite them: its first outputs are the next state."""
    number = len(jax.tree.leaves(state)) if name.startswith("step") else 0
    return tuple((reads.index(1 + leaf), leaf) for leaf in range(number) if 1 + leaf in reads)


def native_env(env: JaxEnv, *, auto: bool = False) -> JaxEnv:
    """Make an environment of the same world, played by programs; a method without a translation raises UsageError.

    auto: leave such a method to XLA instead, with a sentence on standard error, and methods of large games silently.
    """
    kind = type(env)
    native: Any = object.__new__(
        type(f"Native{kind.__name__}", (_NativeMethods, kind), {"__module__": kind.__module__})
    )
    vars(native).update(vars(env), _own=env, _kernels={}, _auto=auto)
    return native


def is_native(env: JaxEnv) -> bool:
    """Whether ``native_env`` made this environment."""
    return isinstance(env, _NativeMethods)
