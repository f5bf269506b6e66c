"""Translation of control flow: calls, conditionals and loops of JAX."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rlworldkit.jax.native.translator import Equation, Rule, Translator
from rlworldkit.jax.native.values import IN_MEMORY_FROM, Value, ctype, expressions


def _variables(translator: Translator, avals: Sequence[Any], start: Sequence[Value] = ()) -> list[Value]:
    """Variables and arrays that can be assigned, with their first values where there are some."""
    translator.finish_loop()
    found: list[Value] = []
    for place, aval in enumerate(avals):
        dtype = aval.dtype.name
        if aval.size >= IN_MEMORY_FROM:
            found.append(translator.copy(start[place]) if start else translator.array(dtype, aval.shape))
            continue
        texts = np.empty(aval.shape, object)
        for at in np.ndindex(aval.shape):
            texts[at] = translator.name("v")
            first = f" = {translator.elements(start[place])[at]}" if start else ""
            translator.add(f"{ctype(dtype)} {texts[at]}{first};")
        found.append(expressions(dtype, texts))
    return found


def _assign(translator: Translator, targets: Sequence[Value], values: Sequence[Value]) -> None:
    """Assign all at the same time: each value is read before any target changes."""
    translator.finish_loop()
    changing = {name for target in targets for name in _names_in(target)}
    pairs, moves = [*zip(targets, values, strict=True)], list[tuple[str, str]]()
    for target, value in pairs:
        if not target.name:
            moves.extend(_read_before(translator, target, value, changing))
    read = [
        (target, translator.copy(value) if changing.intersection(_names_in(value)) else value)
        for target, value in pairs
        if target.name and not (value.name == target.name and value.is_whole)
    ]
    for target, value in read:
        translator.store(target, value)
    for name, text in moves:
        translator.add(f"{name} = {text};")


def _read_before(translator: Translator, target: Value, value: Value, changing: set[str]) -> Iterator[tuple[str, str]]:
    """Variables that change and their values, which are no variables that change."""
    for name, text in zip(target.each().flat, translator.elements(value).flat, strict=True):
        if name != text:
            if text.partition("[")[0] in changing:
                kept = translator.name("v")
                translator.add(f"const {ctype(target.dtype)} {kept} = {text};")
                text = kept
            yield name, text


def _names_in(value: Value) -> set[str]:
    return {value.name} if value.name else {text.partition("[")[0] for text in value.each().flat}


_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")


def _call(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    called = next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in eqn.params)
    return translator.closed(called, values) if hasattr(called, "consts") else translator.jaxpr(called, [], values)


def _cond(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    branches = eqn.params["branches"]
    number = str(translator.elements(values[0])[()])
    results = _variables(translator, [variable.aval for variable in eqn.outvars])
    for place, branch in enumerate(branches):
        is_last = place == len(branches) - 1
        head = ("else " if place else "") + ("" if is_last else f"if ({number} <= {place})")
        with translator.block(head):
            _assign(translator, results, translator.closed(branch, values[1:]))
    return results


def _while(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    of_condition, of_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    start = values[of_condition + of_body :]
    carry = _variables(translator, [variable.aval for variable in eqn.outvars], start)
    with translator.block("for (;;)"):
        (goes_on,) = translator.closed(eqn.params["cond_jaxpr"], [*values[:of_condition], *carry])
        translator.finish_loop()
        translator.add(f"if (!{translator.elements(goes_on)[()]}) break;")
        given = values[of_condition : of_condition + of_body]
        _assign(translator, carry, translator.closed(eqn.params["body_jaxpr"], [*given, *carry]))
    return carry


def _scan(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    params = eqn.params
    num_consts, num_carry, length = params["num_consts"], params["num_carry"], params["length"]
    avals = [variable.aval for variable in eqn.outvars]
    consts, start = values[:num_consts], values[num_consts : num_consts + num_carry]
    sequences = [translator.memory(value) for value in values[num_consts + num_carry :]]
    results = [translator.array(aval.dtype.name, aval.shape) for aval in avals[num_carry:]]
    carry = _variables(translator, avals[:num_carry], start)
    step = translator.name("k")
    place = f"{length - 1} - {step}" if params["reverse"] else step
    with translator.block(f"for (int {step} = 0; {step} < {length}; {step}++)"):
        elements = [_row(translator, sequence, place) for sequence in sequences]
        outputs = translator.closed(params["jaxpr"], [*consts, *carry, *elements])
        rows = [_row(translator, result, place) for result in results]
        _assign(translator, [*carry, *rows], outputs)
    return [*carry, *results]


def _row(translator: Translator, sequence: Value, place: str) -> Value:
    """The element of a sequence at a place that is computed."""
    shape = sequence.shape[1:]
    size, name = int(np.prod(shape)), translator.name("m")
    first, type_ = sequence.element(f"({place}) * {size}"), ctype(sequence.dtype)
    translator.declare(f"{type_} *const {name} = ({type_} *)&{first};")
    return translator.settled(Value(sequence.dtype, np.arange(size).reshape(shape), name=name, stride=sequence.stride))


RULES: dict[str, Rule] = {**dict.fromkeys(_CALLS, _call), "cond": _cond, "while": _while, "scan": _scan}
