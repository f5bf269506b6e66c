"""Lines of Python that made one number of what a JAX function gives, found in what JAX traces.

An operation that only moves numbers (a choice, a slice, a call, a sum with 0) is followed to the number that it took.
What that takes is computed, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

Place = tuple[Path, int]
Index = tuple[int, ...]
MOST_LEAVES = 3
MOST_ROUNDS = 1000
"""Of a loop that is followed."""
_SAME = {"convert_element_type", "copy", "copy_p", "stop_gradient", "device_put", "reduce_precision"}
_FORMS = {"reshape", "squeeze", "expand_dims", "broadcast_in_dim"}
_MOVES = _FORMS | {"transpose", "slice", "rev", "select_n", "stack", "concatenate"}
"""Operations that only move numbers, the first operand of ``select_n`` aside."""
_ARITHMETIC = {"add", "sub", "mul", "div", "min", "max", "and", "or", "xor"}
"""Followed where they leave a number as it was, such as adding 0."""
_CALLS = {"jaxpr", "call_jaxpr", "fun_jaxpr", "call"}
"""Parameters that hold a function which is called once."""


def lines_that_differ(
    play: Callable[..., tuple[Any, dict[str, Any]]],
    given: tuple[Any, ...],
    states: tuple[Any, Any],
    fields: Sequence[str],
    names: Mapping[str, Sequence[str]] = MappingProxyType({}),
    foreign: Sequence[Path] = (),
) -> list[Place]:
    """Lines that make what differs after ``play(*given)``, which gives a state and what else is compared, by field.

    states: the one that it gives, and the other engine's; where they are the same, ``fields`` says what differs.
    names: of elements of fields. foreign: folders of which no lines are given.
    """
    leaves = [[np.asarray(leaf) for leaf in jax.tree.leaves(state)] for state in states]
    apart = [one != other for one, other in zip(*leaves, strict=True)]
    wanted = [(leaf, tuple(np.argwhere(each)[0].tolist())) for leaf, each in enumerate(apart) if np.any(each)]
    if not wanted:
        shown = sorted(jax.eval_shape(play, *given)[1])
        parts = (re.split(r"[\[\]:]", field) for field in fields)
        found = [(each[0], each[1] if len(each) > 1 else "") for each in parts if each[0] in shown]
        wanted = [(len(apart) + shown.index(name), _index(at, names.get(name, ()))) for name, at in found]
    lines = (lines_of(play, given, *each, foreign) for each in wanted[:MOST_LEAVES])
    return list(dict.fromkeys(chain.from_iterable(lines)))


def _index(place: str, names: Sequence[str]) -> Index:
    """The index in a field's name: ``3``, ``2, 5``, or the name of an element."""
    return (names.index(place),) if place in names else tuple(map(int, filter(None, place.split(","))))


def lines_of(
    function: Callable[..., Any], arguments: tuple[Any, ...], leaf: int, index: Index, foreign: Sequence[Path] = ()
) -> list[Place]:
    """Where the number at ``index`` of a leaf of ``function(*arguments)`` comes from, then what it was chosen by.

    foreign: folders beside JAX's own of which no lines are given.
    """
    traced = jax.make_jaxpr(function)(*arguments)
    call = _Call(traced.jaxpr, traced.consts, [partial(np.asarray, each) for each in jax.tree.leaves(arguments)])
    folders = (Path(jax.__file__).parent, *foreign)
    found = (places for each in call.origins(call.jaxpr.outvars[leaf], index) if (places := _places(each, folders)))
    first = next(found, [])
    return list(dict.fromkeys([*first[:2], *(places[0] for places in found)]))


def _places(made: tuple[_Call, Any], foreign: Sequence[Path]) -> list[Place]:
    """The lines of an operation, innermost first; those of the call that it is in where it has none."""
    call, equation = made
    frames = equation.source_info.traceback.frames if equation.source_info.traceback else ()
    places = [(Path(frame.file_name), frame.line_num) for frame in frames]
    own = [each for each in places if each[0].is_file() and not any(map(each[0].is_relative_to, foreign))]
    return own or (_places(call.caller, foreign) if call.caller else [])


class _Call:
    """One call of a traced function: its values, each computed when it is asked for.

    given: what computes its arguments; sources: the calls and variables that they come from. caller: the operation
    that is this call.
    """

    def __init__(
        self,
        jaxpr: Any,
        consts: Sequence[Any],
        given: Sequence[Callable[[], Any]],
        sources: Sequence[tuple[_Call, Any]] = (),
        caller: tuple[_Call, Any] | None = None,
    ) -> None:
        self.jaxpr, self.caller = jaxpr, caller
        self._values = dict(zip(jaxpr.constvars, consts, strict=True))
        self._given = dict(zip(jaxpr.invars, given, strict=True))
        self._sources = dict(zip(jaxpr.invars, sources, strict=False))
        self._made = {made: (each, at) for each in jaxpr.eqns for at, made in enumerate(each.outvars)}

    def value(self, variable: Any) -> Any:
        """The value of a variable or a literal."""
        if hasattr(variable, "val"):
            return variable.val
        if variable not in self._values:
            if variable in self._given:
                self._values[variable] = self._given[variable]()
            else:
                equation, _ = self._made[variable]
                inputs = list(dict.fromkeys(each for each in equation.invars if not hasattr(each, "val")))
                alone = self.jaxpr.replace(constvars=[], invars=inputs, outvars=equation.outvars, eqns=[equation])
                made = jaxpr_as_fun(ClosedJaxpr(alone, ()))(*map(self.value, inputs))
                self._values.update(zip(equation.outvars, made, strict=True))
        return self._values[variable]

    def origins(self, variable: Any, index: Index) -> Iterator[tuple[_Call, Any]]:
        """The operation, with its call, that made or chose an element, then those that it was chosen by."""
        last, choices = list[Any](), list[Any]()
        call, variable = self._source(variable)
        while not hasattr(variable, "val") and variable in call._made:
            made, at = call._made[variable]
            last = [(call, made)]
            if (step := call._followed(made, at, index)) is None:
                break
            if made.primitive.name in ("select_n", "cond") and (by := call._maker(made.invars[0])):
                choices.append(by)
            call, variable, index = step
            call, variable = call._source(variable)
        yield from (*last, *reversed(choices))

    def _source(self, variable: Any) -> tuple[_Call, Any]:
        """The call in which a variable was made that may be an argument here, and what it is there."""
        call = self
        while not hasattr(variable, "val") and variable in call._sources:
            call, variable = call._sources[variable]
        return call, variable

    def _maker(self, variable: Any) -> tuple[_Call, Any] | None:
        """The operation that made a variable, whatever its type and form were then."""
        call, variable = self._source(variable)
        while not hasattr(variable, "val") and variable in call._made:
            equation, _ = call._made[variable]
            if equation.primitive.name not in _SAME | _FORMS:
                return call, equation
            call, variable = call._source(equation.invars[0])
        return None

    def _followed(self, equation: Any, at: int, index: Index) -> tuple[_Call, Any, Index] | None:
        """The call, variable and index that an element was taken from; None where it was computed."""
        kind, parameters, inputs = equation.primitive.name, equation.params, equation.invars
        if kind in _SAME:
            return self, inputs[0], index
        if kind in _MOVES:
            return self._moved(equation, index)
        if kind in _ARITHMETIC:
            made, *taken = (
                np.broadcast_to(self.value(each), equation.outvars[0].aval.shape)
                for each in (*equation.outvars, *inputs)
            )
            same = [each for each, values in zip(inputs, taken, strict=True) if values[index] == made[index]]
            return (self, same[0], index) if len(same) == 1 else None
        if kind == "cond":
            branch = int(np.clip(self.value(inputs[0]), 0, len(parameters["branches"]) - 1))
            return self._inside(equation, parameters["branches"][branch], inputs[1:], at, index)
        if kind == "while":
            return self._looped(equation, at, index)
        if called := next((parameters[name] for name in _CALLS & parameters.keys() if kind != "scan"), None):
            return self._inside(equation, called, inputs, at, index)
        return None

    def _moved(self, equation: Any, index: Index) -> tuple[_Call, Any, Index]:
        """Where an operation that moves numbers took one from: it is done with their places in its operands instead."""
        first = int(equation.primitive.name == "select_n")
        taken = equation.invars[first:]
        ends = np.cumsum([each.aval.size for each in taken])
        parts = zip(np.split(np.arange(ends[-1], dtype=np.int32), ends[:-1]), taken, strict=True)
        places = [part.reshape(each.aval.shape) for part, each in parts]
        made = equation.primitive.bind(*map(self.value, equation.invars[:first]), *places, **equation.params)
        place = int(np.asarray(made)[index])
        which = int(np.searchsorted(ends, place, side="right"))
        return self, taken[which], tuple(map(int, np.argwhere(places[which] == place)[0]))

    def _inside(
        self, equation: Any, called: Any, inputs: Sequence[Any], at: int, index: Index
    ) -> tuple[_Call, Any, Index]:
        jaxpr, consts = getattr(called, "jaxpr", called), getattr(called, "consts", ())
        given, sources = [partial(self.value, each) for each in inputs], [(self, each) for each in inputs]
        return _Call(jaxpr, consts, given, sources, (self, equation)), jaxpr.outvars[at], index

    def _looped(self, equation: Any, at: int, index: Index) -> tuple[_Call, Any, Index] | None:
        """The variable in the last round of a loop, or before it where it has none; None where it has too many."""
        parameters, sources = equation.params, [(self, each) for each in equation.invars]
        test, body = parameters["cond_jaxpr"], parameters["body_jaxpr"]
        begin = parameters["cond_nconsts"] + parameters["body_nconsts"]
        of_test, of_body = sources[: parameters["cond_nconsts"]], sources[parameters["cond_nconsts"] : begin]
        carried = sources[begin:]
        for _ in range(MOST_ROUNDS):
            asked = self._round(equation, test, [*of_test, *carried])
            if not asked.value(asked.jaxpr.outvars[0]):
                return *carried[at], index
            call = self._round(equation, body, [*of_body, *carried])
            carried = [(call, each) for each in call.jaxpr.outvars]
            for _, each in carried:  # in this order, so that no call waits for a hundred others
                call.value(each)
        return None

    def _round(self, equation: Any, called: Any, sources: Sequence[tuple[_Call, Any]]) -> _Call:
        given = [partial(call.value, each) for call, each in sources]
        return _Call(called.jaxpr, called.consts, given, sources, (self, equation))
