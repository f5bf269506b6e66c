"""Translation of control flow: calls, conditionals and loops of JAX."""

from collections.abc import Sequence

import numpy as np

from rlworldkit.jax.native.translator import Equation, Rule, Translator
from rlworldkit.jax.native.values import Value, in_memory

_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")


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
    results = [translator.array(variable.aval.dtype.name, variable.aval.shape) for variable in eqn.outvars]
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
    stacked = [variable.aval for variable in eqn.outvars[len(carry) :]]
    results = [translator.array(aval.dtype.name, aval.shape) for aval in stacked]
    step = translator.name("k")
    place = f"({length - 1} - {step})" if params["reverse"] else step
    with translator.block(f"for (int {step} = 0; {step} < {length}; {step}++)"):
        elements = [_row(sequence, place) for sequence in sequences]
        outputs = translator.closed(params["jaxpr"], [*values[:first], *carry, *elements])
        _assign(translator, [*carry, *(_row(result, place) for result in results)], outputs)
    return [*carry, *results]


def _row(sequence: Value, place: str) -> Value:
    """Return the row of a sequence at a computed index."""
    shape = sequence.index.shape[1:]
    text = sequence.text.replace("{}", f"{place} * {int(np.prod(shape))} + {{}}")
    return in_memory(sequence.dtype, text, shape)


RULES: dict[str, Rule] = {**dict.fromkeys(_CALLS, _call), "cond": _cond, "while": _while, "scan": _scan}
