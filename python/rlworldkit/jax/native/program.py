"""A function of one game as the text of a program that plays many, in the language of a target."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.interpreters import partial_eval

from rlworldkit.jax.batching import one_game
from rlworldkit.jax.native import control, elementwise, indexing
from rlworldkit.jax.native.translator import Translator
from rlworldkit.jax.native.values import IN_MEMORY_FROM, Value, ctype, expressions

RULES = {**elementwise.RULES, **indexing.RULES, **control.RULES}


@dataclass(frozen=True)
class Target:
    """What programs are written for: C expressions of where the leaves of the game that is played lie.

    row: of the pointer to a leaf, ``{size}`` elements of ``{type}``, in the pointers ``{leaf}``. stride: of its
    elements; empty for 1. ``{game}`` is the number of the game; prices may be those of all games, and then it is 0, and
    their stride is ``price_stride``.
    """

    name: str
    row: str
    stride: str = ""
    price_stride: str = ""

    def leaf(self, place: str, aval: Any, game: str = "g") -> Value:
        """A leaf as an array in memory, with its pointer for a name."""
        row = self.row.format(leaf=place, size=aval.size, type=ctype(aval.dtype), game=game)
        stride = self.stride if game == "g" else self.price_stride
        return Value(aval.dtype.name, np.arange(aval.size).reshape(aval.shape), name=row, stride=stride)


class Program(NamedTuple):
    """A translated function of one game, whose first input are the prices.

    closed: what was translated. tables: of constants. loads: the line that declares each input variable, by name.
    lines: statements, each at its depth. stores: lines that write the outputs. inputs, outputs: shape and dtype of the
    leaves of one game.
    """

    closed: ClosedJaxpr
    tables: str
    loads: dict[str, str]
    lines: list[tuple[int, str]]
    stores: list[str]
    inputs: tuple[jax.ShapeDtypeStruct, ...]
    outputs: tuple[jax.ShapeDtypeStruct, ...]


def traced(function: Callable[..., Any], *args: Any) -> tuple[ClosedJaxpr, Any, list[int]]:
    """The jaxpr of a function of one game, the tree of its results, and which leaves of ``args`` it takes.

    The first leaf and the last, by which games are counted, are always among them.
    """
    leaves, tree = jax.tree.flatten(args)
    with one_game():
        closed, result = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)), return_shape=True)(
            *leaves
        )
    kept = [place in (0, len(leaves) - 1) for place in range(len(leaves))]
    jaxpr, used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=kept)
    return ClosedJaxpr(jaxpr, closed.consts), jax.tree.structure(result), list(np.flatnonzero(used))


def translate(closed: ClosedJaxpr, target: Target) -> Program:
    """Translate the jaxpr of one game; raises Untranslatable where it uses what has no translation."""
    translator, loads = Translator(RULES), dict[str, str]()
    args = [_loaded(translator, target, place, v.aval, loads) for place, v in enumerate(closed.jaxpr.invars)]
    results = translator.closed(closed, args)
    # an output may lie where an input does: what is written is read before
    own = [translator.copy(value) if value.name in loads else value for value in results]
    translator.finish_loop()
    lines, translator.lines = translator.lines, []
    for place, (variable, value) in enumerate(zip(closed.jaxpr.outvars, own, strict=True)):
        _store(translator, target, place, variable.aval, value)
    stores = [text for _, text in translator.lines]
    tables = [f"TABLE {type_} {name}[] = {{{', '.join(texts)}}};" for (type_, texts), name in translator.tables.items()]
    shapes = ([_shape_of(v.aval) for v in each] for each in (closed.jaxpr.invars, closed.jaxpr.outvars))
    return Program(closed, "\n".join(tables), loads, lines, stores, *map(tuple, shapes))


def _shape_of(aval: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype)


def _loaded(translator: Translator, target: Target, place: int, aval: Any, loads: dict[str, str]) -> Value:
    """The value of an input, and how each variable of it is loaded."""
    leaf, type_ = target.leaf(f"in[{place}]", aval, "g" if place else "price"), f"const {ctype(aval.dtype)}"
    if aval.size >= IN_MEMORY_FROM:
        name = translator.name("m")
        loads[name] = f"{type_} *const {name} = {leaf.name};"
        return replace(leaf, name=name)
    texts = np.empty(aval.shape, object)
    for at in np.ndindex(aval.shape):
        name = translator.name("v")
        texts[at], loads[name] = name, f"{type_} {name} = {leaf.element(leaf.index[at])};"
    return expressions(leaf.dtype, texts)


def _store(translator: Translator, target: Target, place: int, aval: Any, value: Value) -> None:
    """Write an output where somebody wants it."""
    leaf = target.leaf(f"out[{place}]", aval)
    if aval.size == 1:
        translator.declare(f"if (out[{place}]) {leaf.element(0)} = {translator.elements(value).flat[0]};")
        return
    with translator.block(f"if (out[{place}])"):
        name = translator.name("m")
        translator.declare(f"{ctype(aval.dtype)} *const {name} = {leaf.name};")
        translator.store(replace(leaf, name=name), value)
