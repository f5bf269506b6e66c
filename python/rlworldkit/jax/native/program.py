"""Translation of a function of one game to C: its calls, conditionals and loops, and its inputs and results."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.interpreters import partial_eval
from jax.sharding import AbstractMesh, use_abstract_mesh

from rlworldkit.jax.batching import one_game
from rlworldkit.jax.native import primitives
from rlworldkit.jax.native.translator import Equation, Translator, Value, ctype

_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")


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
    translator, end = Translator(_RULES), len(closed.out_avals) if asked is None else asked + 1
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
    tables = [f"TABLE {type_} {name}[] = {{{numbers}}};" for (type_, numbers), name in translator.tables.items()]
    return "\n".join([head, *tables, game, *translator.lines, "}\n"])


def _leaf(kind: str, place: int, aval: Any) -> Value:
    return Value.of(aval.dtype, f"{kind}({place}, {ctype(aval.dtype)}, {aval.size}, {{}})", aval.shape)


def _store(translator: Translator, closed: ClosedJaxpr, results: list[Value], places: range) -> None:
    for place in places:
        with translator.block(f"if (WANTED({place}))"):
            translator.store(_leaf("OUT", place, closed.out_avals[place]), results[place])


def _assign(translator: Translator, targets: Sequence[Value], values: Sequence[Value]) -> None:
    """Assign all targets at once: each value is read before any target changes."""
    translator.finish_loop()
    changing = {target.base for target in targets}
    pairs = [(target, value) for target, value in zip(targets, values, strict=True) if target is not value]
    read = [translator.copy(value) if value.base in changing else value for _, value in pairs]
    for (target, _), value in zip(pairs, read, strict=True):
        translator.store(target, value)
    translator.finish_loop()


def _call(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    called = next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in eqn.params)
    return translator.closed(called, values) if hasattr(called, "consts") else translator.jaxpr(called, [], values)


def _cond(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    number, *operands = values
    results = [translator.array(variable.aval) for variable in eqn.outvars]
    last = len(eqn.params["branches"]) - 1
    for place, branch in enumerate(eqn.params["branches"]):
        head = ("else " if place else "") + ("" if place == last else f"if ({number.text} <= {place})")
        with translator.block(head):
            _assign(translator, results, translator.closed(branch, operands))
    return results


def _while(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    of_condition, of_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    given = values[of_condition : of_condition + of_body]
    carry = [translator.copy(value) for value in values[of_condition + of_body :]]
    with translator.block("for (;;)"):
        (goes_on,) = translator.closed(eqn.params["cond_jaxpr"], [*values[:of_condition], *carry])
        translator.finish_loop()
        translator.add(f"if (!{goes_on.text}) break;")
        _assign(translator, carry, translator.closed(eqn.params["body_jaxpr"], [*given, *carry]))
    return carry


def _scan(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    params, length = eqn.params, eqn.params["length"]
    first, last = params["num_consts"], params["num_consts"] + params["num_carry"]
    carry = [translator.copy(value) for value in values[first:last]]
    sequences = [translator.memory(value) for value in values[last:]]
    results = [translator.array(variable.aval) for variable in eqn.outvars[len(carry) :]]
    step = translator.name("k")
    place = f"({length - 1} - {step})" if params["reverse"] else step
    with translator.block(f"for (int {step} = 0; {step} < {length}; {step}++)"):
        elements = [_row(sequence, place) for sequence in sequences]
        outputs = translator.closed(params["jaxpr"], [*values[:first], *carry, *elements])
        _assign(translator, [*carry, *(_row(result, place) for result in results)], outputs)
    return [*carry, *results]


def _row(sequence: Value, place: str) -> Value:
    """Return the row of a sequence at a computed index."""
    shape = sequence.shape[1:]
    text = sequence.text.replace("{}", f"{place} * {int(np.prod(shape))} + {{}}")
    return Value.of(sequence.dtype, text, shape)


_RULES = {**primitives.RULES, **dict.fromkeys(_CALLS, _call), "cond": _cond, "while": _while, "scan": _scan}
