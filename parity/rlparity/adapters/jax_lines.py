"""Lines of Python that made one number of what a JAX function gives, found in what JAX traces.

An operation that only moves numbers (a choice, a slice, a call, a sum with 0) is followed to the number that it took.
What that takes is computed, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jax
import numpy as np

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
    given = [_Value(np.asarray(each)) for each in jax.tree.leaves(arguments)]
    folders = (Path(jax.__file__).parent, *foreign)
    made = _origins(_results(traced, given)[leaf], index)
    found = (places for each in made if (places := _places(each, folders)))
    first = next(found, [])
    return list(dict.fromkeys([*first[:2], *(places[0] for places in found)]))


@dataclass(eq=False)
class _Operation:
    """An operation of a traced function. caller: the call of the function, None at the top."""

    equation: Any
    operands: Sequence[_Value]
    caller: _Operation | None
    given: Sequence[Any] = ()
    """What it gives, once that is computed."""

    @property
    def kind(self) -> str:
        """The name of its primitive."""
        return self.equation.primitive.name

    def bind(self, *operands: Any) -> Any:
        """What it gives for these operands."""
        primitive = self.equation.primitive
        return primitive.bind(*operands, **primitive.get_bind_params(self.equation.params))


@dataclass(eq=False)
class _Value:
    """A value that is known, or else given by an operation."""

    known: Any = None
    made: _Operation | None = None
    at: int = 0

    def array(self) -> Any:
        """The value, computed when it is asked for."""
        if self.made is None:
            return self.known
        if not self.made.given:
            given = self.made.bind(*map(_Value.array, self.made.operands))
            self.made.given = given if self.made.equation.primitive.multiple_results else [given]
        return self.made.given[self.at]


def _results(called: Any, arguments: Sequence[_Value], caller: _Operation | None = None) -> list[_Value]:
    """The values that a traced function gives, none of them computed yet."""
    jaxpr, consts = getattr(called, "jaxpr", called), getattr(called, "consts", ())
    values = dict(zip(jaxpr.constvars, map(_Value, consts), strict=True))
    values |= zip(jaxpr.invars, arguments, strict=True)

    def value_of(variable: Any) -> _Value:
        return _Value(variable.val) if hasattr(variable, "val") else values[variable]

    for equation in jaxpr.eqns:
        made = _Operation(equation, [*map(value_of, equation.invars)], caller)
        values |= {each: _Value(made=made, at=at) for at, each in enumerate(equation.outvars)}
    return [*map(value_of, jaxpr.outvars)]


def _places(made: _Operation, foreign: Sequence[Path]) -> list[Place]:
    """The lines of an operation, innermost first; those of the call that it is in where it has none."""
    traceback = made.equation.source_info.traceback
    places = [(Path(frame.file_name), frame.line_num) for frame in (traceback.frames if traceback else ())]
    own = [each for each in places if each[0].is_file() and not any(map(each[0].is_relative_to, foreign))]
    return own or (_places(made.caller, foreign) if made.caller else [])


def _origins(value: _Value, index: Index) -> Iterator[_Operation]:
    """The operation that made or chose an element, then those that it was chosen by."""
    last, choices = list[_Operation](), list[_Operation]()
    while (made := value.made) is not None:
        last = [made]
        if (step := _followed(made, value.at, index)) is None:
            break
        if made.kind in ("select_n", "cond") and (by := _chooser(made.operands[0])):
            choices.append(by)
        value, index = step
    yield from (*last, *reversed(choices))


def _chooser(value: _Value) -> _Operation | None:
    """The operation that made a choice, whatever its type and form were then."""
    while (made := value.made) is not None and made.kind in _SAME | _FORMS:
        value = made.operands[0]
    return made


def _followed(made: _Operation, at: int, index: Index) -> tuple[_Value, Index] | None:
    """The value and index that an element was taken from; None where it was computed."""
    parameters, operands = made.equation.params, made.operands
    if made.kind in _SAME:
        return operands[0], index
    if made.kind in _MOVES:
        return _moved(made, index)
    if made.kind in _ARITHMETIC:
        shape, number = made.equation.outvars[0].aval.shape, np.asarray(_Value(made=made).array())[index]
        same = [each for each in operands if np.broadcast_to(each.array(), shape)[index] == number]
        return (same[0], index) if len(same) == 1 else None
    if made.kind == "cond":
        branch = int(np.clip(operands[0].array(), 0, len(parameters["branches"]) - 1))
        return _results(parameters["branches"][branch], operands[1:], made)[at], index
    if made.kind == "while":
        return _looped(made, at, index)
    called = next((parameters[name] for name in _CALLS & parameters.keys() if made.kind != "scan"), None)
    return called and (_results(called, operands, made)[at], index)


def _moved(made: _Operation, index: Index) -> tuple[_Value, Index]:
    """Where an operation that moves numbers took one from: it is done with their places in its operands instead."""
    first = int(made.kind == "select_n")
    taken = made.operands[first:]
    avals = [each.aval for each in made.equation.invars[first:]]
    ends = np.cumsum([each.size for each in avals])
    parts = zip(np.split(np.arange(ends[-1], dtype=np.int32), ends[:-1]), avals, strict=True)
    places = [part.reshape(each.shape) for part, each in parts]
    chosen = map(_Value.array, made.operands[:first])
    place = int(np.asarray(made.bind(*chosen, *places))[index])
    which = int(np.searchsorted(ends, place, side="right"))
    return taken[which], tuple(map(int, np.argwhere(places[which] == place)[0]))


def _looped(made: _Operation, at: int, index: Index) -> tuple[_Value, Index] | None:
    """The value in the last round of a loop, or before it where it has none; None where it has too many."""
    parameters, operands = made.equation.params, made.operands
    of_test, of_body = parameters["cond_nconsts"], parameters["body_nconsts"]
    test, body, carried = operands[:of_test], operands[of_test : of_test + of_body], operands[of_test + of_body :]
    for _ in range(MOST_ROUNDS):
        (goes_on,) = _results(parameters["cond_jaxpr"], [*test, *carried], made)
        if not goes_on.array():
            return carried[at], index
        carried = _results(parameters["body_jaxpr"], [*body, *carried], made)
        for each in carried:  # in this order, so that no round waits for a hundred others
            each.array()
    return None
