"""A ``JaxEnv`` whose games are played by translated programs."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from rlworldkit.jax.batching import is_one_game
from rlworldkit.jax.env import Compact, JaxEnv, State, StepOutput
from rlworldkit.jax.marks import is_collecting
from rlworldkit.jax.native import compiler
from rlworldkit.jax.native.call import Kernel
from rlworldkit.jax.native.program import traced, translate
from rlworldkit.jax.native.values import Untranslatable
from rlworldkit.jax.switches import switch


class _NativeMethods(JaxEnv):
    """Methods of a ``JaxEnv`` that call programs, in front of those of its class.

    Where marks or words are collected, and inside of a trace of one game, the world's own methods are called.
    """

    _own: JaxEnv
    _kernels: dict[Any, tuple[Kernel, Any] | None]
    _tell: Callable[[str], None]
    _most_bytes: float

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
        if is_collecting():
            return self._own.observe(state)
        # its floats are as wide as vectors
        return self._own.expand(jax.tree.map(lambda leaf: leaf[None], self.compact(state)))[0]

    def _play(self, name: str, *args: Any) -> Any:
        own = self._own.with_prices(self.prices)
        if is_one_game() or is_collecting() or switch("jax_disable_jit"):
            return getattr(own, name)(*args)
        args = jax.tree.map(jnp.asarray, args)
        leaves, tree = jax.tree.flatten((jnp.asarray(self.prices, jnp.int32), *args))
        if sum(leaf.size * leaf.dtype.itemsize for leaf in leaves[1:]) > self._most_bytes:
            return getattr(own, name)(*args)
        key = name, tree, tuple((leaf.shape, leaf.dtype.name) for leaf in leaves)
        if key not in self._kernels:
            self._kernels[key] = self._kernel(name, args)
        found = self._kernels[key]
        if found is None:
            return getattr(own, name)(*args)
        kernel, results = found
        prices, *rest = (leaves[place] for place in kernel.reads)
        outputs = kernel(prices, *(leaf[None] for leaf in rest))
        return jax.tree.unflatten(results, [output[0] for output in outputs])

    def _kernel(self, name: str, args: Any) -> tuple[Kernel, Any] | None:
        prices, *shapes = jax.tree.map(
            lambda leaf: jax.ShapeDtypeStruct(jnp.shape(leaf), leaf.dtype), (np.asarray(self._own.prices), *args)
        )

        def play(prices: Array, *args: Any) -> Any:
            return getattr(self._own.with_prices(prices), name)(*args)

        try:
            closed, results, reads = traced(play, prices, *shapes)
            program = translate(closed, compiler.TARGET)
        except Untranslatable as fault:
            self._tell(f"{self.name}: XLA compiles {name}, since there is no translation of {fault}.")
            return None
        source = compiler.source_of(program) if jax.default_backend() == "cpu" else ""
        kernel = Kernel(
            source and compiler.name_of(source), source, program, tuple(reads), _in_place(name, shapes[0], reads)
        )
        if source:
            compiler.start(kernel.name, source)
        return kernel, results


def _in_place(name: str, state: State, reads: list[int]) -> tuple[tuple[int, int], ...]:
    """Which inputs the outputs of a step overwrite: its first ones are the state that follows."""
    number = len(jax.tree.leaves(state)) if name.startswith("step") else 0
    return tuple((reads.index(1 + leaf), leaf) for leaf in range(number) if 1 + leaf in reads)


def native_env(env: JaxEnv, tell: Callable[[str], None], most_bytes: float = math.inf) -> JaxEnv:
    """The same world, played by translated programs; ``tell`` takes a sentence about each that cannot be translated.

    most_bytes: that a method takes of a game; one that takes more is left to XLA.
    """
    kind = type(env)
    native: Any = object.__new__(
        type(f"Native{kind.__name__}", (_NativeMethods, kind), {"__module__": kind.__module__})
    )
    vars(native).update(vars(env), _own=env, _kernels={}, _tell=tell, _most_bytes=most_bytes)
    return native


def is_native(env: JaxEnv) -> bool:
    """Whether ``native_env`` made it."""
    return isinstance(env, _NativeMethods)
