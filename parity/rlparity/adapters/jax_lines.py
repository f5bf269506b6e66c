"""Find the lines of Python that computed one number of a JAX function's result, in the function's jaxpr.

An operation that only moves numbers (a choice, a slice, a call, a sum with 0) is followed back to the number that it
moved. Only the values that this needs are computed.
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
"""Most iterations of a while loop that is followed."""
_SAME = {"convert_element_type", "copy", "copy_p", "stop_gradient", "device_put", "reduce_precision"}
_FORMS = {"reshape", "squeeze", "expand_dims", "broadcast_in_dim"}
_MOVES = _FORMS | {"transpose", "slice", "rev", "select_n", "stack", "concatenate"}
"""Operations that only move numbers of their operands (except the first operand of ``select_n``, the choice)."""
_ARITHMETIC = {"add", "sub", "mul", "div", "min", "max", "and", "or", "xor"}
"""Operations that are followed where the result equals one operand, such as adding 0."""
_CALLS = {"jaxpr", "call_jaxpr", "fun_jaxpr", "call"}
"""Parameters of an equation that hold a function which it calls once."""


def lines_that_differ(
    play: Callable[..., tuple[Any, dict[str, Any]]],
    given: tuple[Any, ...],
    states: tuple[Any, Any],
    fields: Sequence[str],
    names: Mapping[str, Sequence[str]] = MappingProxyType({}),
    foreign: Sequence[Path] = (),
) -> list[Place]:
    """Find the lines that made the differences after ``play(*given)``, which returns a state and other fields by name.

    states: the state that it returns, and the other engine's; where they are equal, the ``fields`` that differ count.
    names: names of the elements of fields. foreign: folders whose lines are left out.
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
    """Parse the index in a field's name: ``3``, ``2, 5``, or the name of an element."""
    return (names.index(place),) if place in names else tuple(map(int, filter(None, place.split(","))))


def lines_of(
    function: Callable[..., Any], arguments: tuple[Any, ...], leaf: int, index: Index, foreign: Sequence[Path] = ()
) -> list[Place]:
    """Find the lines that made the number at ``index`` of a leaf of ``function(*arguments)``, then those that chose it.

    foreign: folders, besides JAX's own, whose lines are left out.
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
    """An operation of a traced function. caller: the operation that calls the function, None at the top."""

    equation: Any
    operands: Sequence[_Value]
    caller: _Operation | None
    given: Sequence[Any] = ()
    """Its results, empty until they are computed."""

    @property
    def kind(self) -> str:
        """Name of its primitive."""
        return self.equation.primitive.name

    def bind(self, *operands: Any) -> Any:
        """Compute its result for these operands."""
        primitive = self.equation.primitive
        return primitive.bind(*operands, **primitive.get_bind_params(self.equation.params))


@dataclass(eq=False)
class _Value:
    """A value: either ``known``, or result ``at`` of the operation ``made``."""

    known: Any = None
    made: _Operation | None = None
    at: int = 0

    def array(self) -> Any:
        """Return the value, computed on first use."""
        if self.made is None:
            return self.known
        if not self.made.given:
            given = self.made.bind(*map(_Value.array, self.made.operands))
            self.made.given = given if self.made.equation.primitive.multiple_results else [given]
        return self.made.given[self.at]


def _results(called: Any, arguments: Sequence[_Value], caller: _Operation | None = None) -> list[_Value]:
    """Results of a traced function, not computed yet."""
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
    """Source lines of an operation, innermost first; those of its caller where it has none."""
    traceback = made.equation.source_info.traceback
    places = [(Path(frame.file_name), frame.line_num) for frame in (traceback.frames if traceback else ())]
    own = [each for each in places if each[0].is_file() and not any(map(each[0].is_relative_to, foreign))]
    return own or (_places(made.caller, foreign) if made.caller else [])


def _origins(value: _Value, index: Index) -> Iterator[_Operation]:
    """Yield the operation that computed an element, then the operations that decided the choices on the way."""
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
    """Find the operation that computed a choice, before any changes of dtype and shape."""
    while (made := value.made) is not None and made.kind in _SAME | _FORMS:
        value = made.operands[0]
    return made


def _followed(made: _Operation, at: int, index: Index) -> tuple[_Value, Index] | None:
    """Find the value and index that an element was copied from; None where it was computed."""
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
    """Find where a moving operation took a number from: run it on the numbers' positions instead of their values."""
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
    """Find the value in the last iteration of a loop, or before a loop with none; None after ``MOST_ROUNDS``."""
    parameters, operands = made.equation.params, made.operands
    of_test, of_body = parameters["cond_nconsts"], parameters["body_nconsts"]
    test, body, carried = operands[:of_test], operands[of_test : of_test + of_body], operands[of_test + of_body :]
    for _ in range(MOST_ROUNDS):
        (goes_on,) = _results(parameters["cond_jaxpr"], [*test, *carried], made)
        if not goes_on.array():
            return carried[at], index
        carried = _results(parameters["body_jaxpr"], [*body, *carried], made)
        for each in carried:  # compute every round at once, else the recursion is as deep as the rounds
            each.array()
    return None
