"""Translation of a function of one game to C."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.interpreters import partial_eval
from jax.sharding import AbstractMesh, use_abstract_mesh

from rlworldkit.jax.batching import one_game
from rlworldkit.jax.native import control, primitives
from rlworldkit.jax.native.translator import Translator
from rlworldkit.jax.native.values import Value, ctype, in_memory

RULES = {**primitives.RULES, **control.RULES}


def traced(function: Callable[..., Any], *args: Any) -> tuple[ClosedJaxpr, Any, list[int]]:
    """Trace a function of one game; returns its jaxpr, the tree of its results, and which leaves of ``args`` it takes.

    It always takes the first leaf, and the last one, whose shape tells the number of games.
    """
    leaves, tree = jax.tree.flatten(args)
    with one_game(), use_abstract_mesh(AbstractMesh((), ())):  # a game lies on one device
        closed, result = jax.make_jaxpr(lambda *leaves: function(*jax.tree.unflatten(tree, leaves)), return_shape=True)(
            *leaves
        )
    kept = [place in (0, len(leaves) - 1) for place in range(len(leaves))]
    jaxpr, used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=kept)
    return ClosedJaxpr(jaxpr, closed.consts), jax.tree.structure(result), list(np.flatnonzero(used))


def translate(closed: ClosedJaxpr, asked: int | None = None) -> str:
    """Translate the jaxpr of one game to a C function ``game``; raises Untranslatable.

    The file that includes it defines where leaves lie by the macros IN, PRICE (for the first input) and OUT. They take
    a leaf's number, type and size, and the position of an element. asked: number of the result that decides whether the
    results after it are stored.
    """
    translator, end = Translator(RULES), len(closed.out_avals) if asked is None else asked + 1
    args = [_leaf("IN" if place else "PRICE", place, aval) for place, aval in enumerate(closed.in_avals)]
    # an output may overwrite an input, so results that are inputs are copied before any output is stored
    results = translator.closed(closed, args)
    results = [translator.copy(each) if each.text.startswith(("IN(", "PRICE(")) else each for each in results]
    _store(translator, closed, results, range(end))
    if asked is not None:
        with translator.block(f"if ({results[asked].text})"):
            _store(translator, closed, results, range(end, len(results)))
    head = f"enum {{ INPUTS = {len(args)}, OUTPUTS = {len(results)} }};"
    game = "FN void game(const void *const *in, void *const *out, PLACE) {"
    return "\n".join([head, *translator.tables, game, *translator.lines, "}\n"])


def _leaf(kind: str, place: int, aval: Any) -> Value:
    return in_memory(aval.dtype.name, f"{kind}({place}, {ctype(aval.dtype)}, {aval.size}, {{}})", aval.shape)


def _store(translator: Translator, closed: ClosedJaxpr, results: list[Value], places: range) -> None:
    for place in places:
        with translator.block(f"if (WANTED({place}))"):
            translator.store(_leaf("OUT", place, closed.out_avals[place]), results[place])
