"""Count how often the loops and branches of a program run, while a CPU runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax._src import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

Place = tuple[tuple[str, int], ...]
"""Stack at which an operation was traced: file and line of each call in user code, innermost first."""
Part = tuple[frozenset[tuple[str, int]], int]
"""Key of a loop body (number 0) or a branch (its number): the calls that led to it (``calls_of``) and the number."""
Rounds = Mapping[Part, float]
"""Number of runs of each part of a program."""
_CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr"} | {
    "custom_vmap_call": "call",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
"""Primitives that only call a function, and the parameter that holds the function."""
_BRANCHES, _LOOPS = ("cond",), ("while", "scan")


class LoopCounts:
    """Loops and branches of a closed jaxpr.

    ``run`` evaluates the jaxpr and counts how often each body and branch ran.
    """

    def __init__(self, program: ClosedJaxpr) -> None:
        self._program = program
        self._first: dict[int, int] = {}
        self.parts: list[Part] = []
        self.unrolled: list[int] = []
        """Unroll factor of each part: iterations that the compiled loop runs as one."""
        self._collect(program.jaxpr, ())

    def run(self, *args: Any) -> tuple[list[Any], Array]:  # noqa: ANN401 - leaves of any type
        """Return the results, and the number of runs of each of ``parts``, int32 (parts,)."""
        with jax.enable_x64(True):  # an engine may compute in 64 bits; the jaxpr fixes every dtype
            counts = jnp.zeros(len(self.parts), jnp.int32)
            return self._run(self._program.jaxpr, self._program.consts, list(args), counts)

    def _collect(self, jaxpr: Jaxpr, outside: Place) -> None:
        for equation in jaxpr.eqns:
            name, params = equation.primitive.name, equation.params
            place = (*_place(equation), *outside)  # the stack of an equation inside a call may end at the call
            if name in _BRANCHES or name in _LOOPS:
                self._first[id(equation)] = len(self.parts)
                number = len(params["branches"]) if name in _BRANCHES else 1
                self.unrolled += [params.get("unroll", 1)] * number
                self.parts += [(calls_of(place), part) for part in range(number)]
            for inner in _inner(params):
                self._collect(inner.jaxpr, place)

    def _run(self, jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], counts: Array) -> tuple[list[Any], Array]:
        values: dict[Any, Any] = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args), strict=True))

        def value(atom: Any) -> Any:  # noqa: ANN401 - of any type
            return (
                np.asarray(atom.val, getattr(atom.aval, "dtype", None)) if isinstance(atom, Literal) else values[atom]
            )

        for equation in jaxpr.eqns:
            results, counts = self._equation(equation, [value(atom) for atom in equation.invars], counts)
            values |= zip(equation.outvars, results, strict=True)
        return [value(atom) for atom in jaxpr.outvars], counts

    def _equation(self, equation: Any, args: list[Any], counts: Array) -> tuple[list[Any], Array]:  # noqa: ANN401
        primitive, params = equation.primitive, equation.params
        first = self._first.get(id(equation), 0)
        if primitive.name in _CALLS:
            called = params[_CALLS[primitive.name]]
            return self._run(called.jaxpr, called.consts, args, counts)
        if primitive.name == "cond":
            branches = [partial(self._part, branch, first + number) for number, branch in enumerate(params["branches"])]
            return jax.lax.switch(args[0], branches, counts, *args[1:])
        if primitive.name == "while":
            return self._while(params, first, args, counts)
        if primitive.name == "scan":
            return self._scan(params, first, args, counts)
        results = primitive.bind(*args, **params)
        return list(results) if primitive.multiple_results else [results], counts

    def _part(self, part: ClosedJaxpr, number: int, counts: Array, *args: Any) -> tuple[list[Any], Array]:  # noqa: ANN401
        return self._run(part.jaxpr, part.consts, args, counts.at[number].add(1))

    def _while(self, params: Any, first: int, args: list[Any], counts: Array) -> tuple[list[Any], Array]:  # noqa: ANN401
        test, body = params["cond_jaxpr"], params["body_jaxpr"]
        split = params["cond_nconsts"] + params["body_nconsts"]
        tested, given, start = args[: params["cond_nconsts"]], args[params["cond_nconsts"] : split], args[split:]

        def going(carry: tuple[list[Any], Array]) -> Any:  # noqa: ANN401 - a bool
            return self._run(test.jaxpr, test.consts, [*tested, *carry[0]], carry[1])[0][0]

        def one_round(carry: tuple[list[Any], Array]) -> tuple[list[Any], Array]:
            return self._part(body, first, carry[1], *given, *carry[0])

        return jax.lax.while_loop(going, one_round, (start, counts))

    def _scan(self, params: Any, first: int, args: list[Any], counts: Array) -> tuple[list[Any], Array]:  # noqa: ANN401
        body, split, kept = params["jaxpr"], params["num_consts"], params["num_carry"]
        given, start, rows = args[:split], args[split : split + kept], args[split + kept :]

        def one_round(carry: tuple[list[Any], Array], row: list[Any]) -> tuple[tuple[list[Any], Array], list[Any]]:
            results, counted = self._part(body, first, carry[1], *given, *carry[0], *row)
            return (results[:kept], counted), results[kept:]

        (end, counts), stacked = jax.lax.scan(
            one_round, (start, counts), rows, length=params["length"], reverse=params["reverse"]
        )
        return [*end, *stacked], counts


def _inner(params: dict[str, Any]) -> Iterator[ClosedJaxpr]:
    for value in params.values():
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, ClosedJaxpr):
                yield each


def _place(equation: Any) -> Place:  # noqa: ANN401 - an equation of a jaxpr
    frames = source_info_util.user_frames(equation.source_info.traceback)
    return tuple((frame.file_name, frame.start_line) for frame in frames)


def rounds_per_call(program: ClosedJaxpr, start: Any, calls: int) -> Rounds:  # noqa: ANN401 - a tree
    """Count the mean runs of every loop body and branch per call of a program that is applied to its own result.

    The first ``calls`` calls are a warm-up, and the next ``calls`` are counted.
    """
    counter = LoopCounts(program)

    @jax.jit
    def play(leaves: list[Any]) -> tuple[list[Any], Array]:
        def step(carry: tuple[list[Any], Array], _: None) -> tuple[tuple[list[Any], Array], None]:
            after, counted = counter.run(*carry[0])
            return (after, carry[1] + counted), None

        return jax.lax.scan(step, (leaves, jnp.zeros(len(counter.parts), jnp.int32)), None, length=calls)[0]

    counts = np.asarray(play(play(jax.tree.leaves(start))[0])[1]) / calls / counter.unrolled
    found: dict[Part, float] = {}
    for part, number in zip(counter.parts, counts, strict=True):
        found[part] = found.get(part, 0.0) + float(number)
    return found


def calls_of(place: Place) -> frozenset[tuple[str, int]]:
    """Calls of a stack outside these studies, as a set: a compiled text repeats some of them for every loop."""
    return frozenset(call for call in place if "/studies/" not in call[0])
