"""A translated program as an operation of JAX, on any number of games."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend.core import ClosedJaxpr, Primitive
from jax.interpreters import batching, mlir, partial_eval, xla

from rlworldkit.jax.native import compiler, cuda


@dataclass(frozen=True, eq=False, repr=False)
class Kernel:
    """A program that plays games.

    source: its C; empty unless it is for a CPU. closed: the jaxpr that is translated. in_place: pairs of the number of
    an input and the number of the output that may overwrite it.
    """

    source: str
    closed: ClosedJaxpr
    in_place: tuple[tuple[int, int], ...] = ()

    def __call__(self, prices: Array, *leaves: Array) -> list[Array]:
        """Return the outputs of one game or of a batch; prices are shared by all games, (prices,), or one row each."""
        return _play.bind(prices, *leaves, kernel=self, outputs=tuple(range(len(self.closed.out_avals))))


_play = Primitive("play")
_play.multiple_results = True


def _batch(kernel: Kernel, last: Any) -> tuple[int, ...]:
    """Return the shape of the axes of games, those that the last input has in front of its own."""
    return last.shape[: last.ndim - len(kernel.closed.in_avals[-1].shape)]


def _shapes(*avals: Any, kernel: Kernel, outputs: tuple[int, ...]) -> list[Any]:
    leaves = [kernel.closed.out_avals[place] for place in outputs]
    return [jax.core.ShapedArray((*_batch(kernel, avals[-1]), *leaf.shape), leaf.dtype) for leaf in leaves]


def _on_batches(args: Sequence[Array], axes: Sequence[int | None], *, kernel: Kernel, outputs: tuple[int, ...]) -> Any:
    """Batching rule: move or add the axis of games to the front of every input; shared prices stay as they are."""
    size = next(arg.shape[axis] for arg, axis in zip(args, axes, strict=True) if axis is not None)
    given = [
        jnp.broadcast_to(arg, (size, *arg.shape)) if axis is None else jnp.moveaxis(arg, axis, 0)
        for arg, axis in zip(args, axes, strict=True)
    ]
    prices, batch = args[0], _batch(kernel, given[-1])
    if axes[0] is not None or prices.ndim > 1:
        own, missing = given[0].shape, (1,) * (1 + len(batch) - given[0].ndim)
        prices = jnp.broadcast_to(given[0].reshape(*own[:-1], *missing, own[-1]), (*batch, own[-1]))
    return _play.bind(prices, *given[1:], kernel=kernel, outputs=outputs), [0] * len(outputs)


def _without_unused(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    """Dead code rule: drop the outputs that are not read."""
    if not any(used):
        return [False] * len(eqn.invars), None
    kept = [place for place, is_used in enumerate(used) if is_used]
    params = {**eqn.params, "outputs": tuple(eqn.params["outputs"][place] for place in kept)}
    return [True] * len(eqn.invars), eqn.replace(params=params, outvars=[eqn.outvars[place] for place in kept])


def _on_processor(kernel: Kernel, outputs: tuple[int, ...], aliases: dict[int, int], *args: Array) -> Any:
    leaves = [kernel.closed.out_avals[place] for place in outputs]
    results = [jax.ShapeDtypeStruct((len(args[-1]), *leaf.shape), leaf.dtype) for leaf in leaves]
    numbers = [outputs.index(place) if place in outputs else -1 for place in range(len(kernel.closed.out_avals))]
    call = jax.ffi.ffi_call(compiler.TARGET, results, input_output_aliases=aliases)
    return call(*args, program=compiler.build(kernel.source), results=np.array(numbers, np.int64))


def _play_batch(play: Callable[..., Any], *args: Array, kernel: Kernel, outputs: tuple[int, ...]) -> list[Array]:
    """Play the games of all axes as one flat batch."""
    prices, *leaves = args
    if prices.ndim > len(kernel.closed.in_avals[0].shape):
        prices = prices.reshape(-1, prices.shape[-1])
    flat = [leaf.reshape(-1, *own.shape) for leaf, own in zip(leaves, kernel.closed.in_avals[1:], strict=True)]
    aliases = {read: outputs.index(written) for read, written in kernel.in_place if written in outputs}
    results, batch = play(kernel, outputs, aliases, prices, *flat), _batch(kernel, args[-1])
    return [result.reshape(*batch, *result.shape[1:]) for result in results]


_play.def_abstract_eval(_shapes)
_play.def_impl(lambda *args, **params: xla.apply_primitive(_play, *args, **params))
batching.primitive_batchers[_play] = _on_batches
partial_eval.dce_rules[_play] = _without_unused
for _platform, _how in (("cpu", _on_processor), ("cuda", lambda kernel, *args: cuda.call(kernel.closed, *args))):
    mlir.register_lowering(_play, mlir.lower_fun(partial(_play_batch, _how), multiple_results=True), platform=_platform)
