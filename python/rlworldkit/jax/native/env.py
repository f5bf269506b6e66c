"""A ``JaxEnv`` whose games are played by translated programs, and such a program as an operation of JAX."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.extend.core import ClosedJaxpr, Primitive
from jax.interpreters import batching, mlir, partial_eval, xla

from rlparity.errors import UsageError
from rlworldkit.jax.batching import is_one_game
from rlworldkit.jax.env import JaxEnv, State
from rlworldkit.jax.marks import is_collecting
from rlworldkit.jax.native import cpu, cuda
from rlworldkit.jax.native.program import traced, translate
from rlworldkit.jax.native.translator import Untranslatable
from rlworldkit.jax.switches import switch
from rlworldkit.jax.target import is_tracing_for

_MOST_BYTES = 2**10
"""Largest input in bytes of a method that ``auto`` has played by a program: XLA plays larger games in half the time."""


_play = Primitive("play")
_play.multiple_results = True


def playing(closed: ClosedJaxpr, in_place: Sequence[tuple[int, int]] = ()) -> Callable[..., list[Array]]:
    """Make the function of prices and leaves that runs a function of one game, by its jaxpr, on one game or a batch.

    Prices are shared by all games, (prices,), or one row each. in_place: pairs of the number of an input and the number
    of the output that may overwrite it.
    """
    return partial(_play.bind, closed=closed, in_place=tuple(in_place), outputs=tuple(range(len(closed.out_avals))))


def _batch(closed: ClosedJaxpr, last: Any) -> tuple[int, ...]:
    """Return the shape of the axes of games, those that the last input has in front of its own."""
    return last.shape[: last.ndim - len(closed.in_avals[-1].shape)]


def _shapes(*avals: Any, closed: ClosedJaxpr, outputs: tuple[int, ...], **_: Any) -> list[Any]:
    leaves = [closed.out_avals[place] for place in outputs]
    return [jax.core.ShapedArray((*_batch(closed, avals[-1]), *leaf.shape), leaf.dtype) for leaf in leaves]


def _on_batches(args: Sequence[Array], axes: Sequence[int | None], **params: Any) -> Any:
    """Batching rule: move or add the axis of games to the front of every input; shared prices stay as they are."""
    size = next(arg.shape[axis] for arg, axis in zip(args, axes, strict=True) if axis is not None)
    given = [
        jnp.broadcast_to(arg, (size, *arg.shape)) if axis is None else jnp.moveaxis(arg, axis, 0)
        for arg, axis in zip(args, axes, strict=True)
    ]
    prices, batch = args[0], _batch(params["closed"], given[-1])
    if axes[0] is not None or prices.ndim > 1:
        own, missing = given[0].shape, (1,) * (1 + len(batch) - given[0].ndim)
        prices = jnp.broadcast_to(given[0].reshape(*own[:-1], *missing, own[-1]), (*batch, own[-1]))
    return _play.bind(prices, *given[1:], **params), [0] * len(params["outputs"])


def _without_unused(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    """Dead code rule: drop the outputs that are not read."""
    if not any(used):
        return [False] * len(eqn.invars), None
    kept = [place for place, is_used in enumerate(used) if is_used]
    params = {**eqn.params, "outputs": tuple(eqn.params["outputs"][place] for place in kept)}
    return [True] * len(eqn.invars), eqn.replace(params=params, outvars=[eqn.outvars[place] for place in kept])


def _play_batch(
    call: Callable[..., Sequence[Array]],
    prices: Array,
    *leaves: Array,
    closed: ClosedJaxpr,
    in_place: tuple[tuple[int, int], ...],
    outputs: tuple[int, ...],
) -> list[Array]:
    """Play the games of all axes as one flat batch."""
    if prices.ndim > 1:
        prices = prices.reshape(-1, prices.shape[-1])
    flat = [leaf.reshape(-1, *own.shape) for leaf, own in zip(leaves, closed.in_avals[1:], strict=True)]
    aliases = {read: outputs.index(written) for read, written in in_place if written in outputs}
    batch = _batch(closed, leaves[-1])
    return [result.reshape(*batch, *result.shape[1:]) for result in call(closed, outputs, aliases, prices, *flat)]


_play.def_abstract_eval(_shapes)
_play.def_impl(partial(xla.apply_primitive, _play))
batching.primitive_batchers[_play] = _on_batches
partial_eval.dce_rules[_play] = _without_unused
for _platform, _call in (("cpu", cpu.call), ("cuda", cuda.call)):
    _lowering = mlir.lower_fun(partial(_play_batch, _call), multiple_results=True)
    mlir.register_lowering(_play, _lowering, platform=_platform)


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
            (cpu.program_of if is_tracing_for("cpu") else translate)(closed)
        except Untranslatable as fault:
            sentence = f"{self.name}: XLA compiles {name}, since there is no translation of {fault}"
            if not self._auto:
                raise UsageError(f"{sentence}: choose --engine-backend auto.") from fault
            print(f"{sentence}.", file=sys.stderr)
            return None
        # the first outputs of a step are the next state, which may overwrite the state
        overwritten = range(1, 1 + len(jax.tree.leaves(shapes[1]))) if name.startswith("step") else ()
        run = playing(closed, [(reads.index(leaf), leaf - 1) for leaf in overwritten if leaf in reads])
        return lambda leaves: jax.tree.unflatten(results, run(*(leaves[place] for place in reads)))


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
