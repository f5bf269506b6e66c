"""Translation of operations on single elements, and of what folds many elements into one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlworldkit.jax.native.translator import Equation, Rule, Translator
from rlworldkit.jax.native.values import (
    IN_MEMORY_FROM,
    Untranslatable,
    Value,
    ctype,
    expressions,
    literal,
    uniform,
)

_INFIX = {"and": "&", "or": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_EXPRESSIONS: dict[str | tuple[str, str], str] = {
    **{name: f"({{0}} {sign} {{1}})" for name, sign in _INFIX.items()},
    **{
        name: f"({{t}})(({{u}}){{0}} {sign} ({{u}}){{1}})"
        for name, sign in {"add": "+", "sub": "-", "mul": "*"}.items()
    },
    "div": "DIV({t}, {u}, {0}, {1})",
    "rem": "REM({t}, {0}, {1})",
    ("div", "float32"): "({0} / {1})",
    "not": "({t})~{0}",
    ("not", "bool"): "!{0}",
    "neg": "({t})(0 - ({u}){0})",
    ("neg", "float32"): "-{0}",
    "abs": "({0} < 0 ? ({t})(0 - ({u}){0}) : {0})",
    ("abs", "float32"): "fabsf({0})",
    "sign": "({t})(({0} > 0) - ({0} < 0))",
    ("sign", "float32"): "({0} > 0 ? 1.0f : {0} < 0 ? -1.0f : {0})",
    "square": "({t})(({u}){0} * ({u}){0})",
    "max": "({0} > {1} ? {0} : {1})",
    "min": "({0} < {1} ? {0} : {1})",
    ("max", "float32"): "FMAX({0}, {1})",
    ("min", "float32"): "FMIN({0}, {1})",
    "clamp": "({1} >= {2} || {0} >= {2} ? {2} : {1} > {0} ? {1} : {0})",
    "shift_left": "SHIFT({t}, {u}, {0}, <<, {1})",
    "shift_right_logical": "SHIFT({t}, {u}, {0}, >>, {1})",
    "shift_right_arithmetic": "SHIFT_SIGNED({t}, {s}, {0}, {1})",
    "population_count": "({t})POPCOUNT(({u}){0})",
    "select_n": "({0} ? {2} : {1})",
    "convert_element_type": "({t}){0}",
    ("convert_element_type", "bool"): "({0} != 0)",
    ("floor", "float32"): "floorf({0})",
    ("ceil", "float32"): "ceilf({0})",
    ("sqrt", "float32"): "sqrtf({0})",
    "is_finite": "(isfinite({0}) != 0)",
}
"""C expressions by primitive, or by primitive and dtype of the result.

t: type of the result; u and s: the same one unsigned and signed.
"""
_INEXACT = ("rem", "clamp", "square", "reduce_sum", "reduce_prod", "argmax", "argmin")
"""What is not computed on float32: XLA rounds, or orders, some of it in another way."""
_COMBINED = {"sum": "add", "prod": "mul"}
_NEUTRAL = {"add": 0, "mul": 1, "or": 0, "and": -1, "xor": 0}


def expression(name: str, dtype: str, *args: str) -> str:
    """The C expression of a primitive on elements; raises Untranslatable where there is none."""
    text = _EXPRESSIONS.get((name, dtype)) or _EXPRESSIONS.get(name)
    if text is None:
        raise Untranslatable(f"{name} of {dtype}")
    type_ = ctype(dtype)
    return text.format(*args, t=type_, u=type_.replace("i", "u"), s=type_.replace("u", "i"))


def _compute(translator: Translator, eqn: Equation, args: Sequence[str]) -> str:
    name, dtype = eqn.primitive.name, eqn.outvars[0].aval.dtype.name
    source = eqn.invars[0].aval.dtype.name
    if name == "convert_element_type" and source == "float32" and dtype not in ("bool", "float32"):
        # the nearest number that there is of one beyond all, 0 of what is none
        limits = np.iinfo(dtype)
        above, below = (literal(bound, "float32") for bound in (float(limits.max) + 1, float(limits.min)))
        most, least = literal(limits.max, dtype), literal(limits.min, dtype)
        text = "({0} >= {1} ? {2} : {0} < {3} ? {4} : {0} == {0} ? ({5}){0} : 0)"
        return translator.new(ctype(dtype), text.format(args[0], above, most, below, least, ctype(dtype)))
    return translator.new(ctype(dtype), expression(name, dtype, *args))


def _check(eqn: Equation) -> None:
    name, dtypes = eqn.primitive.name, {atom.aval.dtype.name for atom in eqn.invars}
    if name in _INEXACT and "float32" in dtypes:
        raise Untranslatable(f"{name} of float32")
    if name == "select_n" and len(eqn.invars) > 3:
        raise Untranslatable("select_n of more than two cases")


def _elementwise(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    _check(eqn)
    aval, dtype = eqn.outvars[0].aval, eqn.outvars[0].aval.dtype.name
    if aval.size and all(value.is_uniform for value in values):
        return [uniform(dtype, _compute(translator, eqn, [value.first for value in values]), aval.shape)]
    if aval.size < IN_MEMORY_FROM:
        elements: list[Any] = [np.broadcast_to(translator.elements(value), aval.shape) for value in values]
        texts = np.empty(aval.shape, object)
        for place in np.ndindex(aval.shape):
            texts[place] = _compute(translator, eqn, [each[place] for each in elements])
        return [expressions(dtype, texts)]
    array = translator.array(dtype, aval.shape)
    values = [translator.broadcast(value, aval.shape) for value in values]
    with translator.loop(aval.size, *values) as loop:
        text = _compute(translator, eqn, [translator.element(value) for value in values])
        translator.add(f"{array.name}[i] = {text};")
        loop.known[array.name] = text
    return [array]


def _rows(translator: Translator, value: Value, axes: Sequence[int]) -> Value:
    """A value in memory, with the axes that are folded as one in front."""
    value = value if value.name else translator.memory(value)
    index = np.moveaxis(value.index, axes, range(len(axes)))
    return value.at(index.reshape(-1, *index.shape[len(axes) :]))


def _fold(
    translator: Translator, eqn: Equation, values: list[Value], axes: Sequence[int], fold: Callable[[str], str]
) -> list[Value]:
    """The variable of each column, into which ``fold`` folds an element in each round of the loop that makes them."""
    rows = _rows(translator, values[0], axes)
    texts = np.empty(rows.shape[1:], object)
    for place in np.ndindex(texts.shape):
        row = rows.at(rows.index[:, *place])
        with translator.loop(row.index.size, row):
            texts[place] = fold(translator.element(row))
    translator.finish_loop()
    return [expressions(eqn.outvars[0].aval.dtype.name, texts)]


def _neutral(name: str, dtype: str) -> str:
    """The number that changes nothing where it is folded in."""
    if name in _NEUTRAL:
        return literal(1 if (name, dtype) == ("and", "bool") else _NEUTRAL[name], dtype)
    if dtype == "float32":
        return literal(-np.inf if name == "max" else np.inf, dtype)
    limits = np.iinfo(dtype)
    return literal(limits.min if name == "max" else limits.max, dtype)


def _reduce(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    dtype, axes = eqn.outvars[0].aval.dtype.name, eqn.params["axes"]
    name = eqn.primitive.name.removeprefix("reduce_")
    name = _COMBINED.get(name, name)
    if dtype == "bool":
        name = {"max": "or", "min": "and"}.get(name, name)
    if all(values[0].shape[axis] == 1 for axis in axes):
        return [values[0].at(np.squeeze(values[0].index, axes))]
    _check(eqn)

    def combine(element: str) -> str:
        total = translator.name("v")
        translator.declare(f"{ctype(dtype)} {total} = {_neutral(name, dtype)};")
        translator.add(f"{total} = {expression(name, dtype, total, element)};")
        return total

    return _fold(translator, eqn, values, axes, combine)


def _arg_extreme(translator: Translator, eqn: Equation, values: list[Value]) -> list[Value]:
    """The first index of the largest or smallest element."""
    _check(eqn)
    dtype, type_ = eqn.invars[0].aval.dtype.name, ctype(eqn.outvars[0].aval.dtype)
    sign = ">" if eqn.primitive.name == "argmax" else "<"

    def choose(element: str) -> str:
        best, at = translator.name("v"), translator.name("v")
        translator.declare(f"{type_} {at} = -1; {ctype(dtype)} {best} = 0;")
        translator.add(f"if ({at} == ({type_})-1 || {element} {sign} {best}) {{ {best} = {element}; {at} = i; }}")
        return at

    return _fold(translator, eqn, values, eqn.params["axes"], choose)


_NAMES = {name if isinstance(name, str) else name[0] for name in _EXPRESSIONS}
RULES: dict[str, Rule] = {
    **dict.fromkeys(_NAMES, _elementwise),
    **dict.fromkeys((f"reduce_{name}" for name in ("sum", "prod", "max", "min", "or", "and", "xor")), _reduce),
    **dict.fromkeys(("argmax", "argmin"), _arg_extreme),
}
