"""Split the program of one game where rare, heavy work begins, so that a GPU does that work for few games together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var

from rlworldkit.jax.batching import RARE_WORK


class Parts(NamedTuple):
    """A program in two parts.

    common: gives whether the work is wanted, the values that the rest needs, and the program's results as if it were
    not. rest: takes these values, and gives those results, by their numbers in ``changed``, that the work changes.
    """

    common: ClosedJaxpr
    rest: ClosedJaxpr
    changed: tuple[int, ...]


def split(closed: ClosedJaxpr) -> Parts | None:
    """The parts of a program, split at the longest of its rare works; None where it does none."""
    jaxpr = closed.jaxpr
    places = [place for place, eqn in enumerate(jaxpr.eqns) if eqn.params.get("name") == RARE_WORK]
    if not places:
        return None
    place = max(places, key=lambda place: _length(jaxpr.eqns[place].params))
    wanted = jaxpr.eqns[place].invars[-1]
    later = set(jaxpr.eqns[place].outvars)
    for eqn in jaxpr.eqns[place + 1 :]:
        if later.intersection(_variables(eqn.invars)):
            later.update(eqn.outvars)
    changed = tuple(
        number for number, atom in enumerate(jaxpr.outvars) if not isinstance(atom, Literal) and atom in later
    )
    is_wanted, is_not = ({wanted: Literal(np.full(wanted.aval.shape, value), wanted.aval)} for value in (True, False))
    after = _needed(_replaced(jaxpr.eqns[place:], is_wanted), [jaxpr.outvars[number] for number in changed])
    made = set[Var]().union(*(eqn.outvars for eqn in after))
    used = dict.fromkeys(each for eqn in after for each in _variables(eqn.invars))
    saved = [each for each in used if each not in made and each not in jaxpr.constvars]
    before = [*jaxpr.eqns[:place], *_replaced(jaxpr.eqns[place : place + 1], is_not), *jaxpr.eqns[place + 1 :]]
    results = [wanted, *saved, *jaxpr.outvars]
    return Parts(
        _program(closed, jaxpr.invars, _needed(before, results), results),
        _program(closed, saved, after, [jaxpr.outvars[number] for number in changed]),
        changed,
    )


def _length(params: Mapping[str, Any]) -> int:
    """How many equations there are in what an equation calls."""
    inner = [each for value in params.values() for each in (value if isinstance(value, tuple) else (value,))]
    bodies = [each.jaxpr for each in inner if isinstance(each, ClosedJaxpr)]
    return sum(1 + _length(eqn.params) for body in bodies for eqn in body.eqns)


def _variables(atoms: Iterable[Any]) -> list[Var]:
    return [atom for atom in atoms if not isinstance(atom, Literal)]


def _replaced(eqns: Sequence[JaxprEqn], values: Mapping[Any, Literal]) -> list[JaxprEqn]:
    """Equations with constants for some of their inputs."""
    return [
        eqn.replace(invars=[atom if isinstance(atom, Literal) else values.get(atom, atom) for atom in eqn.invars])
        for eqn in eqns
    ]


def _needed(eqns: Sequence[JaxprEqn], results: Sequence[Any]) -> list[JaxprEqn]:
    """Those equations on which the results depend."""
    wanted, kept = set(_variables(results)), list[JaxprEqn]()
    for eqn in reversed(eqns):
        if wanted.intersection(eqn.outvars):
            kept.append(eqn)
            wanted.update(_variables(eqn.invars))
    return kept[::-1]


def _program(
    closed: ClosedJaxpr, inputs: Sequence[Var], eqns: Sequence[JaxprEqn], results: Sequence[Any]
) -> ClosedJaxpr:
    names = closed.jaxpr.debug_info.with_unknown_names()
    parts = {"invars": list(inputs), "eqns": list(eqns), "outvars": list(results), "debug_info": names}
    return ClosedJaxpr(closed.jaxpr.replace(**parts), closed.consts)
