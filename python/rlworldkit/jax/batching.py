"""Running one-game functions on batches without paying for `vmap`.

An engine is written on arrays of any batch shape. Under `jax.vmap` its loops would carry and select the
whole state of every game; run natively on ``(games,)`` arrays they stop when the last game is done. These
helpers let callers write `vmap` and get the native code, and they carry rule marks out of loops and conditionals.
Inside ``one_game`` they trace a single game, for translation into a program that plays one game after the other
(`rlworldkit.jax.native`).
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache, partial
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array, lax
from jax.custom_batching import custom_vmap

from rlworldkit.jax.marks import Marks, add, collecting, is_collecting
from rlworldkit.jax.switches import holding
from rlworldkit.jax.target import is_tracing_for

Tree = TypeVar("Tree")
Inputs = TypeVar("Inputs")
Outputs = TypeVar("Outputs")

RARE_WORK = "rare_work"
"""The name by which ``run_rarely`` is found in a jaxpr; its last argument is whether the work is needed."""
_is_one_game: ContextVar[bool] = ContextVar("is_one_game", default=False)


def one_game() -> AbstractContextManager[None]:
    """Trace one game at a time in this thread, as a context: what is rare is a conditional, and nothing is vmapped."""
    return holding(_is_one_game, True)


def is_one_game() -> bool:
    """True inside ``one_game``."""
    return _is_one_game.get()


def batch_native(core: Callable[..., Any]) -> Callable[..., Any]:
    """A one-game function from one on batches: ``core`` takes and gives pytrees with a leading games axis.

    The result takes pytrees without that axis; however often it is vmapped, ``core`` sees one flat batch. Rule marks
    that fire in ``core`` are collected outside.
    """

    def with_marks(*args: Any) -> tuple[Any, Marks]:
        out, marks = collecting(core)(*args)
        shape = jax.tree.leaves(args)[0].shape[:1]
        return out, {name: jnp.broadcast_to(fired, (*shape, *fired.shape[1:])) for name, fired in marks.items()}

    unmarked, marked = _batch_native(core), _batch_native(with_marks)

    def on_one(*args: Any) -> Any:
        if is_one_game():
            return _on_flat_batch(core, 0, *args)
        if not is_collecting():
            return unmarked(*args)
        out, marks = marked(*args)
        add(marks)
        return out

    return on_one


@cache
def _batch_native(core: Callable[..., Any], axes: int = 0) -> Callable[..., Any]:
    """A function of pytrees with so many leading axes from one of a flat batch; under vmap they are one more."""
    function = custom_vmap(partial(_on_flat_batch, core, axes))

    @function.def_vmap
    def on_more_axes(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        out = _batch_native(core, axes + 1)(*_broadcast(axis_size, in_batched, args))
        return out, jax.tree.map(lambda _: True, out)

    return function


def _on_flat_batch(core: Callable[..., Any], axes: int, *args: Any) -> Any:
    shape = jnp.shape(jax.tree.leaves(args)[0])[:axes]
    out = core(*jax.tree.map(lambda leaf: jnp.reshape(leaf, (math.prod(shape), *jnp.shape(leaf)[axes:])), args))
    return jax.tree.map(lambda leaf: leaf.reshape((*shape, *leaf.shape[1:])), out)


def _broadcast(axis_size: int, in_batched: Any, args: Any) -> Any:
    def with_axis(leaf: Array, batched: bool) -> Array:
        return leaf if batched else jnp.broadcast_to(leaf, (axis_size, *jnp.shape(leaf)))

    return jax.tree.map(with_axis, args, tuple(in_batched))


def choose(wanted: Array, yes: Tree, no: Tree) -> Tree:
    """The games of ``yes`` where ``wanted`` (bool ``(games,)``) holds, else those of ``no``."""

    def chosen(one: Array, other: Array) -> Array:
        return jnp.where(wanted.reshape(-1, *(1,) * (one.ndim - 1)), one, other)

    picked: Tree = jax.tree.map(chosen, yes, no)
    return picked


def where_wanted(
    wanted: Array,
    function: Callable[[Inputs], Outputs],
    inputs: Inputs,
    otherwise: Outputs,
    chunk: int,
    share: int | None = None,
) -> Outputs:
    """``function(inputs)`` for the games where ``wanted`` (bool ``(games,)``) holds, else ``otherwise``.

    Rare, heavy work is done only for the games that need it; they are gathered into chunks of at most ``chunk`` games,
    or of one game in ``share`` where that is more. All leaves begin with the axis of games.
    """
    if is_one_game() and wanted.shape == (1,):
        return run_rarely(wanted[0], partial(function, inputs), otherwise)
    if share and is_tracing_for("tpu"):
        share //= 2  # a second chunk takes longer than a larger one
    chunk = min(max(chunk, len(wanted) // share) if share else chunk, len(wanted))
    blank = _unmarked(function, inputs).items()
    unmarked = {name: jnp.zeros((*wanted.shape, *fired.shape[1:]), fired.dtype) for name, fired in blank}

    def body(state: tuple[Array, tuple[Outputs, Marks]]) -> tuple[Array, tuple[Outputs, Marks]]:
        left, outputs = state
        # a chunk that is not full is padded with indices past the end: reads there are clamped, writes dropped
        index = _first_true(left, chunk)
        gathered = jax.tree.map(lambda leaf: leaf.at[index].get(mode="clip"), inputs)
        computed = _marking(function)(gathered)
        outputs = jax.tree.map(lambda old, new: old.at[index].set(new, mode="drop"), outputs, computed)
        return left.at[index].set(False, mode="drop"), outputs

    outputs, marks = _while_loop(lambda state: jnp.any(state[0]), body, (wanted, (otherwise, unmarked)))[1]
    add(marks)
    return outputs


def _first_true(flags: Array, count: int) -> Array:
    """The indices (int32) of the first ``count`` true flags, and an index past the end where there are no more."""
    number = jnp.cumsum(flags, dtype=jnp.int32) - 1
    nothing = jnp.full(count, len(flags), jnp.int32)
    return nothing.at[jnp.where(flags, number, count)].set(jnp.arange(len(flags), dtype=jnp.int32), mode="drop")


def computed_once(needed: Array, function: Callable[..., Outputs], *args: Any) -> Outputs:
    """``function(*args)``, or zeros where ``needed`` (one bool for the whole batch) is false.

    XLA fuses cheap producers into each of their consumers, and so works out anew for every plane what
    dozens of planes depend on. A conditional is where fusion ends: its results are computed once. TPUs, which do not
    compute anything twice, get none.
    """
    if is_tracing_for("tpu"):
        return function(*args)
    marking = jax.jit(_marking(function))  # so that learning its shapes and calling it share one trace
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(marking, *args))
    outputs, marks = lax.cond(needed, marking, lambda *_: zeros, *args)
    add(marks)
    return outputs


def run_if(needed: Array, function: Callable[[], Outputs], otherwise: Outputs) -> Outputs:
    """``function()``, or ``otherwise`` where ``needed`` (one bool for the whole batch) is false."""
    unmarked = _unmarked(function)
    outputs, marks = lax.cond(needed, _marking(function), lambda: (otherwise, unmarked))
    add(marks)
    return outputs


def run_rarely(needed: Array, function: Callable[[], Outputs], otherwise: Outputs) -> Outputs:
    """``run_if`` for work of one game that few need: a GPU puts it off, and does it for these together."""

    def rare_work(otherwise: Outputs, needed: Array) -> Outputs:
        return run_if(needed, function, otherwise)

    return jax.jit(rare_work)(otherwise, needed)


def repeat(times: int, body: Callable[[Array, Inputs], Inputs], start: Inputs, *, unrolled: int = 1) -> Inputs:
    """``lax.fori_loop`` from 0, counted in int32, whose body may mark rules.

    unrolled: rounds that a TPU plays as one, where they are small; elsewhere they would only take longer to compile.
    """

    def marking(i: Array, state: tuple[Inputs, Marks]) -> tuple[Inputs, Marks]:
        return _marked_too(partial(body, jnp.asarray(i, jnp.int32)), state)

    rounds = unrolled if is_tracing_for("tpu") else None
    end, marks = lax.fori_loop(0, times, marking, (start, _unmarked(body, jnp.int32(0), start)), unroll=rounds)
    add(marks)
    return end


def while_loop(going: Callable[[Inputs], Array], body: Callable[[Inputs], Inputs], start: Inputs) -> Inputs:
    """``lax.while_loop`` whose body may mark rules."""
    begun = start, _unmarked(body, start)
    end, marks = _while_loop(lambda state: going(state[0]), partial(_marked_too, body), begun)
    add(marks)
    return end


def _while_loop(going: Callable[[Inputs], Array], body: Callable[[Inputs], Inputs], start: Inputs) -> Inputs:
    """``lax.while_loop``; on a TPU the body says whether there is another round, which is one operation less."""
    if not is_tracing_for("tpu"):
        return lax.while_loop(going, body, start)

    def with_going(state: tuple[Array, Inputs]) -> tuple[Array, Inputs]:
        after = body(state[1])
        return going(after), after

    return lax.while_loop(lambda state: state[0], with_going, (going(start), start))[1]


def _marked_too(body: Callable[[Inputs], Inputs], state: tuple[Inputs, Marks]) -> tuple[Inputs, Marks]:
    """One more round of a loop, and the marks that fired in this round or before."""
    inner, before = state
    inner, more = _marking(body)(inner)
    return inner, {name: before[name] | more[name] for name in before}


def _marking(function: Callable[..., Outputs]) -> Callable[..., tuple[Outputs, Marks]]:
    """The function with its marks as a second result, which are none unless somebody collects them."""
    return collecting(function) if is_collecting() else lambda *args: (function(*args), {})


def _unmarked(function: Callable[..., Any], *args: Any) -> Marks:
    """The marks of a function as they are where none fired; none unless somebody collects them."""
    if not is_collecting():
        return {}
    shapes = jax.eval_shape(collecting(function), *args)[1]
    return {name: jnp.zeros(mark.shape, mark.dtype) for name, mark in shapes.items()}
