"""Verdict of a comparison: how well it shows that two engines are equal, and the reasons."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import groupby

from rlparity.world import World


class Verdict(StrEnum):
    """Verdict of a comparison, the worst last.

    PASS: all that is compared is equal and was exercised. LIMITED: it is equal, but some of it was not exercised or was
    left out. INCONCLUSIVE: too little was compared to tell. DIVERGENT: something differs, or is not as it is declared.
    """

    PASS = "PASS"
    LIMITED = "LIMITED"
    INCONCLUSIVE = "INCONCLUSIVE"
    DIVERGENT = "DIVERGENT"

    def exit_code(self, *, strict: bool = False) -> int:
        """The exit code of a command with this verdict; ``strict``: a limited comparison fails too."""
        return {Verdict.PASS: 0, Verdict.LIMITED: int(strict), Verdict.INCONCLUSIVE: 2, Verdict.DIVERGENT: 1}[self]


@dataclass(frozen=True)
class Reason:
    """One reason for a verdict that is not PASS, such as ``observation never varies``.

    kind: topic of the reason: engine, steps, state, field, mask, action, end, seed, space, info, tolerance, ledger,
    acceptance or difference. subject, states: together the name by which ``World.accept`` lists it. remedy: how to
    remove the reason, or where to look.
    """

    verdict: Verdict
    kind: str
    subject: str
    states: str
    remedy: str

    @property
    def name(self) -> str:
        """Name by which ``World.accept`` lists the reason."""
        return f"{self.subject} {self.states}".strip()


limited, inconclusive, divergent = (partial(Reason, verdict) for verdict in [*Verdict][1:])
Check = tuple[Reason, bool | None]
"""A possible reason, and whether it applies; None: not measured."""
_ACCEPTABLE, _EMPTY = "space", "engine"
"""Kinds of reasons: a world may accept the first even if it is worse than LIMITED, and the second not at all."""


def judged(world: World, checks: Iterable[Check], *, acceptances_hold: bool) -> tuple[list[Reason], list[Reason]]:
    """Split the reasons that apply into those that count and those that the world accepts.

    ``acceptances_hold``: an acceptance that does not apply is a reason too.
    """
    found = {reason.name: (reason, holds) for reason, holds in checks}
    reasons, accepted = list[Reason](), list[Reason]()
    for name, (reason, holds) in found.items():
        if holds:
            may_be = reason.kind == _ACCEPTABLE or (reason.verdict == Verdict.LIMITED and reason.kind != _EMPTY)
            (accepted if may_be and name in world.accept else reasons).append(reason)
    for name in world.accept if acceptances_hold else ():
        if name not in found:
            states, remedy = "is accepted, and there is no such limitation", "correct World.accept"
        elif not found[name][1] and found[name][1] is not None:
            states, remedy = "is accepted, and no longer so", "take it off World.accept"
        else:
            continue
        reasons.append(divergent("acceptance", f"'{name}'", states, remedy))
    return reasons, accepted


def worst(reasons: Iterable[Reason]) -> Verdict:
    """The verdict that follows from some reasons: that of the worst; PASS without any."""
    return max((reason.verdict for reason in reasons), key=[*Verdict].index, default=Verdict.PASS)


def sentences(reasons: Sequence[Reason]) -> list[str]:
    """Format the reasons as sentences, the worst first; reasons that differ only in their subject share a sentence."""

    def key(reason: Reason) -> tuple[int, str, str]:
        return -[*Verdict].index(reason.verdict), reason.states, reason.remedy

    grouped = (list(alike) for _, alike in groupby(sorted(reasons, key=key), key))
    together = (replace(alike[0], subject=", ".join(reason.subject for reason in alike)) for alike in grouped)
    return [f"{reason.verdict}: {reason.name}: {reason.remedy}." for reason in together]
