"""Rule marks: which rules, and which branches of them, fired in a step, a start of a game or an observation.

Beside the code of a rule stands ``note(lambda: {"E9": condition, …})``. It costs nothing, not even tracing,
unless the function that is traced was wrapped in ``collecting``. ``batching`` carries what was noted out of
loops and conditionals. docs/marks.md says what each mark means.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import jax.numpy as jnp
from jax import Array

Marks = dict[str, Array]
"""Mark -> whether it fired, bool of the batch shape."""

_noted: ContextVar[Marks | None] = ContextVar("noted", default=None)

NAMES = tuple(
    (
        "A7.saturated B1.credits B1.energy B1.siphon B2 B2.survivors B3 B3.occupied B4 B4.fewer B5.data B5.program "
        "B5.questionData B5.questionProgram B6.valid B6.redrawn B6.exhausted B7.credits B7.energy B8 C1.invalid "
        "C2.turnEnds C2.turnStays C3.move C3.warp C3.fullHP C3.victory C4.death C4.victory C4.invalid C4.afterEnd C5 "
        "C6.covered C6.exposed C6.dropped M1.open M1.enemyOnBlock M1.edge M1.block M2.held M2.none M3.applicable "
        "M3.notOwned M3.tooDear M3.notApplicable V1.adjacent V1.distant V1.blockStops V1.cryptog V2.transmission "
        "V2.stunned V2.removed V3.moved V3.pickup V4.kill V4.scheduled S1.skipped S1.edge S2.data S2.program "
        "S2.alreadyOwned S2.question S2.ownCell S3.credits S3.energy S3.pickupStays S4.centre S4.centreAgain S5 "
        "S5.floor P-PUSH.moved P-PUSH.stayed P-PUSH.edge P-PUSH.ontoBlock P-PULL.moved P-PULL.stayed P-PULL.adjacent "
        "P-PULL.ontoBlock P-CRASH.block P-CRASH.enemy P-CRASH.transmission P-WARP.enemy P-WARP.transmission "
        "P-WARP.block P-WARP.exit P-WARP.pickup P-POLY.changed P-POLY.removed P-POLY.cryptog P-WAIT P-DEBUG P-ROW "
        "P-COL P-UNDO P-UNDO.record P-UNDO.unpaid P-STEP P-SIPH+ P-EXCH P-SHOW P-RESET P-CALM P-D_BOM P-D_BOM.tie "
        "P-D_BOM.blast P-DELAY P-ANTI-V P-SCORE P-REDUC P-ATK+ P-HACK P-HACK.hit E1 E2 E3.enemy E3.cryptog "
        "E3.waiting E4.oneRound E4.twoRounds E4.disabled E4.stunned E4.attacked E4.tooSlow E5.attack E5.lethal "
        "E5.afterDeath E6.path E6.several E6.cryptog E6.glitch E7.noPath E7.moved E7.several E8.moved E8.stayed E9 "
        "E10.spawned E10.dropped E10.calm E11 E12.disabled E12.stunned W.step_penalty W.stage_completion "
        "W.score_gain W.kills W.data_siphon W.distance_shaping W.victory W.death_penalty W.resource_gain "
        "W.resource_holding W.damage_penalty W.hp_recovery W.siphon_quality W.siphon_death_penalty W.program_waste "
        "W1.closer W1.noPath W1.completed W1.death W2.missed W2.best W2.onBlock W3.kills W3.pickups W3.distance "
        "O1.capped O2 O3.enemy O3.transmission O3.block O3.resource O3.pickup O3.siphonCentre O4.hiddenCryptog "
        "O4.shownCryptog O4.question O4.coveredResource O4.uncoveredResource R3 R3.wrapped R5.below R5.cell "
        "R5.distinct R5.order R6"
    ).split()
)
"""Every mark, in the order of ``packed``."""

_STARTS = "B1.credits B1.energy B1.siphon"
_POLY = "P-POLY.changed P-POLY.removed P-POLY.cryptog"
_DRAWN_BY = {
    "R5.below": f"{_STARTS} B4 C6.covered C6.exposed {_POLY} E6.several E7.several",
    "R5.cell": f"{_STARTS} B3 C6.covered C6.exposed C6.dropped P-WARP.enemy P-WARP.transmission",
    "R5.distinct": "B4",
    "R5.order": "E4.oneRound E4.twoRounds",
}
"""Words are computed for all cells at once, used or not; a draw counts where one of these rules used it."""


def note(conditions: Callable[[], Mapping[str, Array]]) -> None:
    """Say where marks fired, bool of the batch shape each; ``conditions`` is called only if somebody collects."""
    noted = _noted.get()
    if noted is not None:
        merge(noted, conditions())


def merge(noted: Marks, more: Mapping[str, Array]) -> None:
    """Add marks to those of the same step; a mark that fires twice fired."""
    for name, fired in more.items():
        noted[name] = noted[name] | fired if name in noted else fired


def is_collecting() -> bool:
    """Whether what is being traced collects marks."""
    return _noted.get() is not None


@contextmanager
def _collector() -> Iterator[Marks]:
    noted: Marks = {}
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)


def collecting(function: Callable[..., Any]) -> Callable[..., tuple[Any, Marks]]:
    """``function`` with what it noted as a second result."""

    def collected(*args: Any) -> tuple[Any, Marks]:
        with _collector() as noted:
            out = function(*args)
        return out, noted

    return collected


def packed(marks: Marks, shape: tuple[int, ...]) -> Array:
    """The marks in the order of ``NAMES``, with the draws they made: bool (*shape, 187)."""
    marks = dict(marks)
    for draw, users in _DRAWN_BY.items():
        for user in users.split():
            if user in marks:
                merge(marks, {draw: marks[user]})
    never = jnp.zeros(shape, bool)
    return jnp.stack([jnp.broadcast_to(marks.get(name, never), shape) for name in NAMES], axis=-1)
