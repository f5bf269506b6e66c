"""Split of a one-game program where rare, heavy work begins, so that a GPU does that only for games that need it."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var
from jax.interpreters import partial_eval

from rlworldkit.jax.batching import RARE_WORK


def split(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, ClosedJaxpr, tuple[int, ...]] | None:
    """Split a program at its longest ``run_rarely``; returns both parts and the changed results, or None without one.

    The first part returns the program's results without the work, whether the work is needed, and the values that the
    second part reads. The second part does the work, and returns only the results that change, given by their numbers.
    """
    jaxpr = closed.jaxpr
    places = [place for place, eqn in enumerate(jaxpr.eqns) if eqn.params.get("name") == RARE_WORK]
    if not places:
        return None
    place = max(places, key=lambda place: sum(1 for _ in equations(jaxpr.eqns[place].params)))
    before, work, after = jaxpr.eqns[:place], jaxpr.eqns[place], jaxpr.eqns[place + 1 :]
    later = set(work.outvars)
    for eqn in after:
        if any(isinstance(atom, Var) and atom in later for atom in eqn.invars):
            later.update(eqn.outvars)
    changed = tuple(number for number, atom in enumerate(jaxpr.outvars) if isinstance(atom, Var) and atom in later)
    known = [*jaxpr.invars, *(variable for eqn in before for variable in eqn.outvars)]
    outvars = [jaxpr.outvars[number] for number in changed]
    rest, used = _program(closed, known, [_with_answer(work, True), *after], outvars)
    saved = [variable for variable, is_used in zip(known, used, strict=True) if is_used]
    eqns, results = [*before, _with_answer(work, False), *after], [*jaxpr.outvars, work.invars[-1], *saved]
    common, _ = _program(closed, jaxpr.invars, eqns, results, keeps_inputs=True)
    return common, rest, changed


def equations(part: Any) -> Iterator[JaxprEqn]:
    """Yield the equations of a jaxpr, or of the jaxprs among parameters, and all nested ones."""
    for each in jax.tree.leaves(part, is_leaf=lambda leaf: hasattr(leaf, "eqns")):
        for eqn in getattr(each, "eqns", ()):
            yield eqn
            yield from equations(eqn.params)


def _with_answer(work: JaxprEqn, is_wanted: bool) -> JaxprEqn:
    wanted: Any = work.invars[-1].aval
    return work.replace(invars=[*work.invars[:-1], Literal(np.full(wanted.shape, is_wanted), wanted)])


def _program(
    closed: ClosedJaxpr, inputs: list[Var], eqns: list[JaxprEqn], results: list[Any], *, keeps_inputs: bool = False
) -> tuple[ClosedJaxpr, list[bool]]:
    """Make a program of the equations that the results depend on; also returns which inputs it takes."""
    names = closed.jaxpr.debug_info.with_unknown_names()
    whole = closed.jaxpr.replace(invars=inputs, eqns=eqns, outvars=results, debug_info=names)
    jaxpr, used = partial_eval.dce_jaxpr(whole, [True] * len(results), instantiate=keeps_inputs)
    return ClosedJaxpr(jaxpr, closed.consts), used
