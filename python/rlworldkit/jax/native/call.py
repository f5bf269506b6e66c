"""A translated program as an operation of JAX, on batches of games."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir, partial_eval, xla

from rlworldkit.jax.native import compiler, cuda
from rlworldkit.jax.native.program import Program


@dataclass(frozen=True, eq=False)
class Kernel:
    """A program that plays batches.

    name, source: of its C, where that is to be compiled. reads: which leaves its inputs are. in_place: inputs that may
    be overwritten, each with the output that does so.
    """

    name: str
    source: str
    program: Program
    reads: tuple[int, ...] = ()
    in_place: tuple[tuple[int, int], ...] = ()

    def aliases(self, outputs: tuple[int, ...]) -> dict[int, int]:
        """Places among some outputs by the numbers of the inputs that they may overwrite."""
        return {read: outputs.index(written) for read, written in self.in_place if written in outputs}

    def __str__(self) -> str:
        return self.name

    def __call__(self, prices: Array, *leaves: Array) -> list[Array]:
        """The outputs of a batch of games (n, …); prices are (prices,), or those of each game."""
        return _play.bind(prices, *leaves, kernel=self, outputs=tuple(range(len(self.program.outputs))))


_play = Primitive("play")
_play.multiple_results = True


def _shapes(*avals: Any, kernel: Kernel, outputs: tuple[int, ...]) -> list[Any]:
    games = avals[-1].shape[0]
    leaves = [kernel.program.outputs[place] for place in outputs]
    return [jax.core.ShapedArray((games, *leaf.shape), leaf.dtype) for leaf in leaves]


def _on_batches(args: Sequence[Array], axes: Sequence[int | None], *, kernel: Kernel, outputs: tuple[int, ...]) -> Any:
    """A batch of batches is one long batch; prices that are the same in all of them stay what they are."""
    size = next(arg.shape[axis] for arg, axis in zip(args, axes, strict=True) if axis is not None)
    inner = args[-1].shape[0 if axes[-1] is None else 1 if axes[-1] == 0 else 0]
    flat = []
    for place, (arg, axis) in enumerate(zip(args, axes, strict=True)):
        leaf = kernel.program.inputs[place].shape
        is_shared = place == 0 and arg.ndim - (axis is not None) == len(leaf)
        if axis is None and is_shared:
            flat.append(arg)
            continue
        arg = arg[None] if axis is None else jnp.moveaxis(arg, axis, 0)
        arg = arg[:, None] if is_shared else arg
        flat.append(jnp.broadcast_to(arg, (size, inner, *leaf)).reshape(size * inner, *leaf))
    results = _play.bind(*flat, kernel=kernel, outputs=outputs)
    return [result.reshape(size, inner, *result.shape[1:]) for result in results], [0] * len(results)


def _without_unused(used: list[bool], eqn: Any) -> tuple[list[bool], Any]:
    """An output that nobody reads is not written."""
    if not any(used):
        return [False] * len(eqn.invars), None
    kept = [place for place, is_used in enumerate(used) if is_used]
    outputs = tuple(eqn.params["outputs"][place] for place in kept)
    variables = [eqn.outvars[place] for place in kept]
    return [True] * len(eqn.invars), eqn.replace(params={**eqn.params, "outputs": outputs}, outvars=variables)


def _lower(context: Any, *operands: Any, kernel: Kernel, outputs: tuple[int, ...]) -> Any:
    compiler.build(kernel.name, kernel.source)
    lowered = jax.ffi.ffi_lowering(kernel.name, operand_output_aliases=kernel.aliases(outputs))
    return lowered(context, *operands, outputs=np.array(outputs, np.int64))


def _lower_for_cuda(context: Any, *operands: Any, kernel: Kernel, outputs: tuple[int, ...]) -> Any:
    called = partial(cuda.call, kernel.program.closed, outputs, kernel.aliases(outputs))
    return mlir.lower_fun(called, multiple_results=True)(context, *operands)


_play.def_abstract_eval(_shapes)
_play.def_impl(lambda *args, **params: xla.apply_primitive(_play, *args, **params))
batching.primitive_batchers[_play] = _on_batches
partial_eval.dce_rules[_play] = _without_unused
mlir.register_lowering(_play, _lower, platform="cpu")
mlir.register_lowering(_play, _lower_for_cuda, platform="cuda")


def kernels_in(jaxpr: Any) -> set[str]:
    """The names of the programs that a jaxpr plays on a processor."""
    names: set[str] = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive is _play:
            names.add(eqn.params["kernel"].name)
        for inner in jax.tree.leaves(list(eqn.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns")):
            if hasattr(inner, "jaxpr") or hasattr(inner, "eqns"):
                names |= kernels_in(getattr(inner, "jaxpr", inner))
    return names - {""}
