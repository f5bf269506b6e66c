"""Translation of control flow: calls, conditionals and loops of JAX."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rlworldkit.jax.native.translator import Equation, Rule, Translator
from rlworldkit.jax.native.values import IN_MEMORY_FROM, Elements, Memory, Value, ctype


def _variables(translator: Translator, avals: Sequence[Any], start: Sequence[Value] | None = None) -> list[Value]:
    """Variables and arrays that can be assigned, with their first values where there are some."""
    translator.finish_loop()
    found: list[Value] = []
    for place, aval in enumerate(avals):
        dtype = aval.dtype.name
        if aval.size >= IN_MEMORY_FROM:
            found.append(translator.copy(start[place], dtype) if start else translator.array(dtype, aval.shape))
            continue
        texts = np.empty(aval.shape, object)
        for at in np.ndindex(aval.shape):
            texts[at] = translator.name("v")
            first = f" = {translator.elements(start[place])[at]}" if start else ""
            translator.add(f"{ctype(dtype)} {texts[at]}{first};")
        found.append(texts)
    return found


def _assign(translator: Translator, avals: Sequence[Any], targets: list[Value], values: Sequence[Value]) -> None:
    """Assign all at the same time: each value is read before any target changes."""
    translator.finish_loop()
    changing = {name for target in targets for name in _names_in(target)}
    moves: list[tuple[str, str]] = []
    for aval, target, value in zip(avals, targets, values, strict=True):
        if not isinstance(target, Memory):
            moves.extend(_read_before(translator, ctype(aval.dtype), target, translator.elements(value), changing))
    arrays = [(target, value) for target, value in zip(targets, values, strict=True) if isinstance(target, Memory)]
    arrays = [(target, value) for target, value in arrays if not _is(target, value)]
    read = [
        (target, translator.copy(value, target.dtype) if changing.intersection(_names_in(value)) else value)
        for target, value in arrays
    ]
    for target, value in read:
        translator.store(target, value)
    for name, text in moves:
        translator.add(f"{name} = {text};")


def _read_before(
    translator: Translator, type_: str, target: Elements, value: Elements, changing: set[str]
) -> Iterator[tuple[str, str]]:
    """Variables that change and their values, which are no variables that change."""
    for name, text in zip(target.flat, value.flat, strict=True):
        if name != text:
            if text.partition("[")[0] in changing:
                kept = translator.name("v")
                translator.add(f"const {type_} {kept} = {text};")
                text = kept
            yield name, text


def _names_in(value: Value) -> set[str]:
    texts = [value.name] if isinstance(value, Memory) else value.flat
    return {text.partition("[")[0] for text in texts}


def _is(target: Memory, value: Value) -> bool:
    return isinstance(value, Memory) and value.name == target.name and value.is_whole


_CALLS = ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call", "remat", "checkpoint")


def _call(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    called = next(eqn.params[name] for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if name in eqn.params)
    return translator.closed(called, values) if hasattr(called, "consts") else translator.jaxpr(called, [], values)


def _cond(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    avals, branches = [variable.aval for variable in eqn.outvars], eqn.params["branches"]
    number = str(translator.elements(values[0])[()])
    results = _variables(translator, avals)
    for place, branch in enumerate(branches):
        is_last = place == len(branches) - 1
        head = ("else " if place else "") + ("" if is_last else f"if ({number} <= {place})")
        with translator.block(head):
            _assign(translator, avals, results, translator.closed(branch, values[1:]))
    return results


def _while(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    of_condition, of_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    start = values[of_condition + of_body :]
    avals = [variable.aval for variable in eqn.outvars]
    carry = _variables(translator, avals, start)
    with translator.block("for (;;)"):
        (goes_on,) = translator.closed(eqn.params["cond_jaxpr"], [*values[:of_condition], *carry])
        translator.finish_loop()
        translator.add(f"if (!{translator.elements(goes_on)[()]}) break;")
        given = values[of_condition : of_condition + of_body]
        _assign(translator, avals, carry, translator.closed(eqn.params["body_jaxpr"], [*given, *carry]))
    return carry


def _scan(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    params = eqn.params
    num_consts, num_carry, length = params["num_consts"], params["num_carry"], params["length"]
    avals = [variable.aval for variable in eqn.outvars]
    consts, start = values[:num_consts], values[num_consts : num_consts + num_carry]
    given = eqn.invars[num_consts + num_carry :]
    sequences = [
        translator.memory(value, atom.aval.dtype.name)
        for value, atom in zip(values[num_consts + num_carry :], given, strict=True)
    ]
    results = [translator.array(aval.dtype.name, aval.shape) for aval in avals[num_carry:]]
    carry = _variables(translator, avals[:num_carry], start)
    step = translator.name("k")
    place = f"{length - 1} - {step}" if params["reverse"] else step
    with translator.block(f"for (int {step} = 0; {step} < {length}; {step}++)"):
        elements = [_row(translator, sequence, place) for sequence in sequences]
        outputs = translator.closed(params["jaxpr"], [*consts, *carry, *elements])
        for result, output in zip(results, outputs[num_carry:], strict=True):
            row = _row(translator, result, place)
            if isinstance(row, Memory):
                translator.store(row, output)
            else:
                translator.finish_loop()
                for target, text in zip(row.flat, translator.elements(output).flat, strict=True):
                    translator.add(f"{target} = {text};")
        _assign(translator, avals[:num_carry], carry, outputs[:num_carry])
    return [*carry, *results]


def _row(translator: Translator, sequence: Memory, place: str) -> Value:
    """The element of a sequence at a place that is computed."""
    shape = sequence.shape[1:]
    size, name = int(np.prod(shape)), translator.name("m")
    first = sequence.element(f"({place}) * {size}")
    translator.add(f"{ctype(sequence.dtype)} *const {name} = ({ctype(sequence.dtype)} *)&{first};")
    row = Memory(name, sequence.dtype, np.arange(size).reshape(shape), sequence.stride)
    return translator.settled(row, sequence.dtype)


RULES: dict[str, Rule] = {**dict.fromkeys(_CALLS, _call), "cond": _cond, "while": _while, "scan": _scan}
