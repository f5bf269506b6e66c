"""Interprets a traced JAX program equation by equation and follows what goes wrong to its results."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from rlparity.sanitizer.faults import NEGATIVE, faults
from rlparity.sanitizer.source import Place, place_of
from rlparity.sanitizer.taints import (
    Array,
    Taint,
    Value,
    bind,
    leading,
    propagate,
    taint_of,
    to_numpy,
    with_condition,
)

_PROGRAM_PARAMS = "jaxpr", "call_jaxpr", "fun_jaxpr", "call"
BITS = 32
"""Sites that one call tells apart; what goes wrong at more of them shares the last bit."""


class Site(NamedTuple):
    """A kind of fault at a place."""

    kind: str
    place: Place


class Interpreter:
    """Runs programs; ``sites`` are those of the last run, and bit i of a taint stands for the i-th."""

    def __init__(self) -> None:
        import jax

        self.sites: dict[Site, int] = {}
        self._jax = os.path.dirname(jax.__file__) + os.sep
        self._caller: Any = None
        """The call by which a function of JAX was entered: traces of these are shared by all their callers."""

    def run(self, program: Any, arguments: list[Any]) -> list[Value]:
        """The results of a closed jaxpr with these arrays."""
        import jax

        self.sites = {}
        # programs may use 64 bits in places; all values have the types that the program gives them
        with np.errstate(all="ignore"), jax.enable_x64(True):
            return self._program(program, _values(program.jaxpr.invars, arguments))

    def _program(self, program: Any, arguments: list[Value]) -> list[Value]:
        """The results of a jaxpr, closed or without constants."""
        jaxpr, consts = getattr(program, "jaxpr", program), getattr(program, "consts", ())
        env = dict(zip(jaxpr.constvars, _values(jaxpr.constvars, consts), strict=True))
        env.update(zip(jaxpr.invars, arguments, strict=True))
        for equation in jaxpr.eqns:
            interpret = _STRUCTURED.get(equation.primitive.name, Interpreter._equation)
            results = interpret(self, equation, self._read(env, equation.invars))
            env.update(zip(equation.outvars, results, strict=True))
        return self._read(env, jaxpr.outvars)

    def _read(self, env: Mapping[Any, Value], variables: list[Any]) -> list[Value]:
        # only literals have a value
        return [Value(np.asarray(var.val, var.aval.dtype)) if hasattr(var, "val") else env[var] for var in variables]

    def _equation(self, equation: Any, values: list[Value]) -> list[Value]:
        results = bind(equation, [value.array for value in values])
        taints: list[Taint] = [None] * len(results)
        if any(value.taint is not None for value in values):
            taints = [taint if taint.any() else None for taint in propagate(equation, values, results)]
        found = [*faults(equation, lambda: self._place(equation).code, values, results[0])]
        if self._wraps(equation, values):
            found.append((NEGATIVE, values[0].array & (values[2].array >= 0)))
        for kind, spoiled in found:
            if np.any(spoiled):
                bits = np.where(spoiled, np.uint32(self._bit(Site(kind, self._place(equation)))), np.uint32(0))
                taints[0] = bits if taints[0] is None else taints[0] | bits
        made = (equation, values) if equation.primitive.name in ("lt", "add") else None
        return [Value(array, taint, made) for array, taint in zip(results, taints, strict=True)]

    def _wraps(self, equation: Any, values: list[Value]) -> bool:
        """Tell if an equation counts negative indices from the end as JAX's indexing does.

        That is ``select(index < 0, index + size, index)``, in which one expression of the source made all equations.
        """
        if equation.primitive.name != "select_n" or not all(value.made for value in values[0:3:2]):
            return False
        (compare, compared), (add, added) = values[0].made, values[2].made  # type: ignore[misc]
        if (compare.primitive.name, add.primitive.name) != ("lt", "add"):
            return False
        is_index = compared[0] is values[1] is added[0] and np.ndim(compared[1].array) == 0
        return is_index and self._place(compare) == self._place(add)

    def _bit(self, site: Site) -> int:
        return 1 << min(self.sites.setdefault(site, len(self.sites)), BITS - 1)

    def _place(self, equation: Any) -> Place:
        return place_of(equation if self._caller is None else self._caller)

    def _call(self, equation: Any, values: list[Value]) -> list[Value]:
        program = next(equation.params[name] for name in _PROGRAM_PARAMS if name in equation.params)
        about = getattr(program, "jaxpr", program).debug_info.func_src_info
        if self._caller is not None or f" at {self._jax}" not in str(about):
            return self._program(program, values)
        self._caller = equation
        try:
            return self._program(program, values)
        finally:
            self._caller = None

    def _cond(self, equation: Any, values: list[Value]) -> list[Value]:
        params = equation.params
        chosen = min(max(int(values[0].array), 0), len(params["branches"]) - 1)
        results = self._program(params["branches"][chosen], values[1:])
        return [with_condition(result, taint_of(values[0])) for result in results]

    def _while(self, equation: Any, values: list[Value]) -> list[Value]:
        params = equation.params
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        of_cond, of_body, carry = values[:first], values[first:second], values[second:]
        condition: Array = np.zeros((), np.uint32)
        while True:
            [going] = self._program(params["cond_jaxpr"], of_cond + carry)
            condition = condition | taint_of(going)
            if not np.any(going.array):
                return [with_condition(value, condition) for value in carry]
            following = self._program(params["body_jaxpr"], of_body + carry)
            # under vmap each game has its own condition
            carry = list(map(partial(_chosen, going.array), following, carry)) if np.ndim(going.array) else following

    def _scan(self, equation: Any, values: list[Value]) -> list[Value]:
        params = equation.params
        first, second = params["num_consts"], params["num_consts"] + params["num_carry"]
        consts, carry, rows = values[:first], values[first:second], values[second:]
        order = range(params["length"])
        made: list[list[Value]] = []
        for index in reversed(order) if params["reverse"] else order:
            row = [Value(all.array[index], None if all.taint is None else all.taint[index]) for all in rows]
            results = self._program(params["jaxpr"], consts + carry + row)
            carry = results[: params["num_carry"]]
            made.append(results[params["num_carry"] :])
        if params["reverse"]:
            made.reverse()
        avals = params["jaxpr"].out_avals[params["num_carry"] :]
        return carry + [_stacked([row[number] for row in made], aval) for number, aval in enumerate(avals)]


_STRUCTURED = {
    "cond": Interpreter._cond,
    "while": Interpreter._while,
    "scan": Interpreter._scan,
    **dict.fromkeys(
        "jit pjit closed_call core_call custom_jvp_call custom_vjp_call custom_vmap_call checkpoint remat2".split(),
        Interpreter._call,
    ),
}


def _chosen(condition: Array, yes: Value, no: Value) -> Value:
    """Rows of ``yes`` where the condition holds, else of ``no``."""
    from jax import numpy as jnp

    rows = leading(condition, no.array)
    taint = np.where(rows, taint_of(yes), taint_of(no))
    return Value(to_numpy(jnp.where(rows, yes.array, no.array)), taint if taint.any() else None)


def _values(variables: Any, arrays: Any) -> list[Value]:
    """Arrays in the types that the program knows, which may be narrower than NumPy's."""
    return [Value(to_numpy(array, var.aval.dtype)) for var, array in zip(variables, arrays, strict=True)]


def _stacked(values: list[Value], aval: Any) -> Value:
    """The results of all rounds of a scan as one value."""
    from jax import numpy as jnp

    if not values:
        return Value(np.zeros(aval.shape, aval.dtype))
    taint = np.stack(list(map(taint_of, values)))
    return Value(to_numpy(jnp.stack([value.array for value in values])), taint if taint.any() else None)
