"""Run one-game functions on batches without the cost of `vmap`.

An engine is written on arrays of any batch shape. Under `jax.vmap` its loops would carry and select the
whole state of every game; run natively on ``(games,)`` arrays they stop when the last game is done. These
helpers let callers write `vmap` and get the batched code, and they carry rule marks out of loops and conditionals.
Inside ``one_game`` they trace a single game, for translation into a program that plays one game after another
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
"""Name of the call that ``run_rarely`` leaves in a jaxpr; its last argument is whether the work is needed."""
_is_one_game: ContextVar[bool] = ContextVar("is_one_game", default=False)


def one_game() -> AbstractContextManager[None]:
    """Context that traces a single game in this thread: rare work is a conditional, and nothing is vmapped."""
    return holding(_is_one_game, True)


def is_one_game() -> bool:
    """True inside ``one_game``."""
    return _is_one_game.get()


def batch_native(core: Callable[..., Any]) -> Callable[..., Any]:
    """Make a one-game function from ``core``, which maps pytrees with a leading games axis to such pytrees.

    The one-game function takes pytrees without that axis; however often it is vmapped, ``core`` sees one flat batch.
    Rule marks that fire in ``core`` are passed on to the caller.
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
    """Make a function of pytrees with ``axes`` games axes from ``core``, which has one; each vmap adds an axis."""
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
    """Select for each game its leaves of ``yes`` where ``wanted`` (bool ``(games,)``) holds, else those of ``no``."""

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
    """Return ``function(inputs)`` for the games where ``wanted`` (bool ``(games,)``) holds, else ``otherwise``.

    For rare, heavy work, done only for the games that need it. They are gathered into chunks of up to ``chunk``
    games, or of a ``share``-th of all games if that is more. All leaves have a leading games axis.
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
    """Return the indices (int32) of the first ``count`` true flags, padded with an index past the end."""
    number = jnp.cumsum(flags, dtype=jnp.int32) - 1
    nothing = jnp.full(count, len(flags), jnp.int32)
    return nothing.at[jnp.where(flags, number, count)].set(jnp.arange(len(flags), dtype=jnp.int32), mode="drop")


def computed_once(needed: Array, function: Callable[..., Outputs], *args: Any) -> Outputs:
    """Return ``function(*args)``, or zeros where ``needed`` (one bool for the whole batch) is false.

    XLA fuses cheap producers into each of their consumers, so a value that dozens of planes depend on is computed
    again for every plane. A conditional stops the fusion: its results are computed once. XLA for TPUs does not
    duplicate work, so the function is called directly there.
    """
    if is_tracing_for("tpu"):
        return function(*args)
    marking = jax.jit(_marking(function))  # so that eval_shape and the call share one trace
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), jax.eval_shape(marking, *args))
    outputs, marks = lax.cond(needed, marking, lambda *_: zeros, *args)
    add(marks)
    return outputs


def run_if(needed: Array, function: Callable[[], Outputs], otherwise: Outputs) -> Outputs:
    """Return ``function()``, or ``otherwise`` where ``needed`` (one bool for the whole batch) is false."""
    unmarked = _unmarked(function)
    outputs, marks = lax.cond(needed, _marking(function), lambda: (otherwise, unmarked))
    add(marks)
    return outputs


def run_rarely(needed: Array, function: Callable[[], Outputs], otherwise: Outputs) -> Outputs:
    """Apply ``run_if`` to work of one game that few games need; in a GPU program a second kernel does it."""

    def rare_work(otherwise: Outputs, needed: Array) -> Outputs:
        return run_if(needed, function, otherwise)

    return jax.jit(rare_work)(otherwise, needed)


def repeat(times: int, body: Callable[[Array, Inputs], Inputs], start: Inputs, *, unrolled: int = 1) -> Inputs:
    """Run ``lax.fori_loop`` from 0, with an int32 counter and a body that may mark rules.

    unrolled: iterations of a small body to unroll on a TPU; elsewhere unrolling would only slow compilation.
    """

    def marking(i: Array, state: tuple[Inputs, Marks]) -> tuple[Inputs, Marks]:
        return _marked_too(partial(body, jnp.asarray(i, jnp.int32)), state)

    rounds = unrolled if is_tracing_for("tpu") else None
    end, marks = lax.fori_loop(0, times, marking, (start, _unmarked(body, jnp.int32(0), start)), unroll=rounds)
    add(marks)
    return end


def while_loop(going: Callable[[Inputs], Array], body: Callable[[Inputs], Inputs], start: Inputs) -> Inputs:
    """Run ``lax.while_loop`` with a body that may mark rules."""
    begun = start, _unmarked(body, start)
    end, marks = _while_loop(lambda state: going(state[0]), partial(_marked_too, body), begun)
    add(marks)
    return end


def _while_loop(going: Callable[[Inputs], Array], body: Callable[[Inputs], Inputs], start: Inputs) -> Inputs:
    """Run ``lax.while_loop``; on a TPU the body also evaluates the condition, which saves an operation per round."""
    if not is_tracing_for("tpu"):
        return lax.while_loop(going, body, start)

    def with_going(state: tuple[Array, Inputs]) -> tuple[Array, Inputs]:
        after = body(state[1])
        return going(after), after

    return lax.while_loop(lambda state: state[0], with_going, (going(start), start))[1]


def _marked_too(body: Callable[[Inputs], Inputs], state: tuple[Inputs, Marks]) -> tuple[Inputs, Marks]:
    """Run one more round of a loop; returns its state and the marks that fired in this round or before."""
    inner, before = state
    inner, more = _marking(body)(inner)
    return inner, {name: before[name] | more[name] for name in before}


def _marking(function: Callable[..., Outputs]) -> Callable[..., tuple[Outputs, Marks]]:
    """Wrap a function to return its marks as a second result, empty outside ``collecting``."""
    return collecting(function) if is_collecting() else lambda *args: (function(*args), {})


def _unmarked(function: Callable[..., Any], *args: Any) -> Marks:
    """Return the marks of a function, all of them false; empty outside ``collecting``."""
    if not is_collecting():
        return {}
    shapes = jax.eval_shape(collecting(function), *args)[1]
    return {name: jnp.zeros(mark.shape, mark.dtype) for name, mark in shapes.items()}
