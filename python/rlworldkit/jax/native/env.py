"""A ``JaxEnv`` whose games are played by translated programs."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from rlworldkit.jax.batching import is_one_game
from rlworldkit.jax.env import Compact, JaxEnv, State, StepOutput
from rlworldkit.jax.marks import is_collecting
from rlworldkit.jax.native import compiler
from rlworldkit.jax.native.call import Kernel
from rlworldkit.jax.native.program import traced, translate
from rlworldkit.jax.native.values import Untranslatable


class _NativeMethods(JaxEnv):
    """Methods of a ``JaxEnv`` that call programs, in front of those of its class.

    Where marks or words are collected, and inside of a trace of one game, the world's own methods are called.
    """

    _own: JaxEnv
    _kernels: dict[Any, tuple[Kernel, Any] | None]
    _tell: Callable[[str], None]

    def reset(self, seed: Array) -> State:
        return self._play("reset", seed)

    def step(self, state: State, action: Array) -> StepOutput:
        return self._play("step", state, action)

    def next_game(self, state: State) -> State:
        return self._play("next_game", state)

    def step_autoreset(self, state: State, action: Array, truncate: Array | None = None) -> StepOutput:
        return self._play("step_autoreset", state, action, *(() if truncate is None else (truncate,)))

    def mask(self, state: State) -> Array:
        return self._play("mask", state)

    def compact(self, state: State) -> Compact:
        return self._play("compact", state)

    def observe(self, state: State) -> Array:
        # its floats are as wide as vectors
        return self._own.expand(jax.tree.map(lambda leaf: leaf[None], self.compact(state)))[0]

    def _play(self, name: str, *args: Any) -> Any:
        own = self._own.with_prices(self.prices)
        if is_one_game() or is_collecting():
            return getattr(own, name)(*args)
        leaves, tree = jax.tree.flatten(args)
        leaves = [jnp.asarray(leaf) for leaf in leaves]
        key = name, tree, tuple((leaf.shape, leaf.dtype.name) for leaf in leaves)
        if key not in self._kernels:
            self._kernels[key] = self._kernel(name, jax.tree.unflatten(tree, leaves))
        found = self._kernels[key]
        if found is None:
            return getattr(own, name)(*args)
        kernel, results = found
        outputs = kernel(jnp.asarray(self.prices, jnp.int32), *(leaf[None] for leaf in leaves))
        return jax.tree.unflatten(results, [output[0] for output in outputs])

    def _kernel(self, name: str, args: tuple[Any, ...]) -> tuple[Kernel, Any] | None:
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), args)
        prices = jax.ShapeDtypeStruct(jnp.shape(self._own.prices), jnp.int32)
        try:
            closed, results = traced(
                lambda prices, *args: getattr(self._own.with_prices(prices), name)(*args), prices, *shapes
            )
            program = translate(closed, compiler.TARGET)
        except Untranslatable as fault:
            self._tell(f"{self.name}: {name} is compiled by XLA, since there is no translation of {fault}.")
            return None
        source = compiler.source_of(program)
        # the first outputs of a step are the state that follows
        number = len(jax.tree.leaves(shapes[0])) if name.startswith("step") else 0
        return Kernel(compiler.name_of(source), source, program, tuple((1 + k, k) for k in range(number))), results


def native_env(env: JaxEnv, tell: Callable[[str], None]) -> JaxEnv:
    """The same world, played by translated programs; ``tell`` takes a sentence about each that cannot be translated."""
    kind = type(env)
    native: Any = object.__new__(type(kind.__name__, (_NativeMethods, kind), {"__module__": kind.__module__}))
    vars(native).update(vars(env), _own=env, _kernels={}, _tell=tell)
    return native
