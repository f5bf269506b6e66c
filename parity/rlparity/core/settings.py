"""Settings and outcome of a run of two engines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.core.ledger import Ledger
from rlparity.core.replay import Divergence
from rlparity.core.verdict import Reason, Verdict, worst
from rlparity.spaces import is_number
from rlparity.tolerance import Tolerance

STRICT, INJECTED, RESYNCHRONISED = MODES = ("strict", "injected", "resynchronised")
FREE_RUNNING = "free-running"
"""A mode of ``rlparity run`` alone, see ``rlparity.core.free_running``."""
MARGIN, WIDEST = 2, 10
"""Times the floor: the tolerance that is proposed, and the widest that says something."""
_FEW_ULPS = 64


@dataclass(frozen=True)
class Settings:
    """Settings of a run. steps: of every game; invalid: share of invalid actions; seed: of games and choices.

    marks: count and compare rule marks too. stop_after: how many diverging games end the run.
    auto_reset: step with the engines' own auto-reset. That path is compared then, but not how ended games look.
    mode: ``strict``: both engines start from seeds. ``injected``: both start each game in the state that the reference
        begins it in, for engines that draw differently. ``resynchronised``: they start each step so, which shows
        every difference where it arises.
    ledger: of known differences. budget_seconds: after which a run ends before its last step. infos: compare them too.
    noise: runs in which the reference plays itself, for its noise floor.
    """

    source: str = "uniform"
    steps: int = 1000
    games: int = 64
    seed: int = 0
    invalid: float = 0.01
    marks: bool = False
    auto_reset: bool = False
    mode: str = STRICT
    stop_after: int = 1
    timeout: float = DEFAULT_TIMEOUT
    ledger: Ledger | None = None
    budget_seconds: float = float("inf")
    infos: bool = False
    noise: int = 0


@dataclass
class Noise:
    """How a field varies: in how many places of games and steps, and by how much at most; infinite: not by numbers."""

    field: str
    places: int = 0
    absolute: float = 0.0
    ulps: float = 0.0

    def add(self, expected: object, observed: object) -> None:
        """Take two values that should be equal."""
        self.places += 1
        if not (is_number(expected) and is_number(observed)) or type(expected) is not type(observed):
            self.absolute = self.ulps = np.inf
            return
        one, other = float(expected), float(observed)  # type: ignore[arg-type]
        distance, size = abs(one - other), np.float32(max(abs(one), abs(other)))
        self.absolute = max(self.absolute, distance)
        self.ulps = max(self.ulps, float(np.ceil(distance / float(np.spacing(size)))))

    def is_far_within(self, tolerance: Tolerance) -> bool:
        """Tell whether a tolerance is much wider than this."""
        given = max(tolerance.ulps, tolerance.relative * 2**23)
        return not tolerance.ignored and (tolerance.absolute > WIDEST * self.absolute or given > WIDEST * self.ulps)

    def tolerance(self, engine: str, runs: int) -> Tolerance | None:
        """The tolerance that covers it; None where no number does."""
        if not np.isfinite(self.absolute):
            return None
        reason = f"{engine} against itself varies by {self.absolute:.2g} in {runs} runs"
        if self.ulps <= _FEW_ULPS:
            return Tolerance(ulps=MARGIN * int(self.ulps), reason=reason)
        return Tolerance(absolute=float(f"{MARGIN * self.absolute:.1e}"), reason=reason)


@dataclass(frozen=True)
class Effect:
    """What a user sees of the differences of two engines, in one episode of each game.

    first (games,): the actions before what is shown first differed; -1 where it never did.
    measures: return, length and, as 0 or 1, terminated and truncated, (2, games) by engine.
    """

    first: NDArray[np.int64]
    measures: Mapping[str, NDArray[np.float64]]


@dataclass
class Outcome:
    """Result of a run. steps: transitions compared in all; marks: per engine, total count of each mark, if counted.

    is_black_box: engines without states were compared by what they show. ledger: the entries for these engines;
    known, met: by id, how many differences each explained, and in how many of the ``games_begun``. effect: of a
    free-running run. reasons: for the verdict; accepted: those that the world accepts. measured: as
    ``Measurements.values`` has it.
    """

    steps: int = 0
    episodes: int = 0
    seconds: float = 0.0
    divergences: list[Divergence] = field(default_factory=list)
    marks: tuple[NDArray[np.int64], NDArray[np.int64]] = (np.zeros(0, np.int64),) * 2
    is_black_box: bool = False
    ledger: Ledger | None = None
    known: Mapping[str, int] = field(default_factory=dict)
    met: Mapping[str, int] = field(default_factory=dict)
    games_begun: int = 0
    effect: Effect | None = None
    reasons: list[Reason] = field(default_factory=list)
    accepted: list[Reason] = field(default_factory=list)
    measured: Mapping[str, Any] = field(default_factory=dict)
    noise: Mapping[str, Noise] | None = None

    @property
    def verdict(self) -> Verdict:
        """What the run shows."""
        return worst(self.reasons)
