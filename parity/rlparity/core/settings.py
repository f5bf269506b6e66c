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
"""Multiples of the noise floor: the proposed tolerance, and the widest one that is still meaningful."""
_FEW_ULPS = 64


@dataclass(frozen=True)
class Settings:
    """Settings of a run. steps: for each game; invalid: share of invalid actions; seed: for games and choices.

    marks: count and compare rule marks too. stop_after: the number of diverging games that ends the run.
    auto_reset: step with the engines' own auto-reset, and so compare it, but not the last outputs of ended games.
    mode: ``strict``: both engines start from seeds. ``injected``: both start each game in the state in which the
        reference begins it, for engines that draw differently. ``resynchronised``: both start each step in the
        reference's state, so that every difference shows where it arises.
    ledger: known differences. budget_seconds: time after which a run ends early. infos: compare infos too.
    noise: number of runs of the reference against itself, to measure its noise floor.
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
    """Noise of a field: number of differing places over games and steps, and largest distance; infinite: no number."""

    field: str
    places: int = 0
    absolute: float = 0.0
    ulps: float = 0.0

    def add(self, expected: object, observed: object) -> None:
        """Add two values that should be equal."""
        self.places += 1
        if not (is_number(expected) and is_number(observed)) or type(expected) is not type(observed):
            self.absolute = self.ulps = np.inf
            return
        one, other = float(expected), float(observed)  # type: ignore[arg-type]
        distance, size = abs(one - other), np.float32(max(abs(one), abs(other)))
        self.absolute = max(self.absolute, distance)
        self.ulps = max(self.ulps, float(np.ceil(distance / float(np.spacing(size)))))

    def is_far_within(self, tolerance: Tolerance) -> bool:
        """Tell whether a tolerance is more than ``WIDEST`` times this noise."""
        given = max(tolerance.ulps, tolerance.relative * 2**23)
        return not tolerance.ignored and (tolerance.absolute > WIDEST * self.absolute or given > WIDEST * self.ulps)

    def tolerance(self, engine: str, runs: int) -> Tolerance | None:
        """Propose a tolerance that covers this noise; None where the noise is not numeric."""
        if not np.isfinite(self.absolute):
            return None
        reason = f"{engine} against itself varies by {self.absolute:.2g} in {runs} runs"
        if self.ulps <= _FEW_ULPS:
            return Tolerance(ulps=MARGIN * int(self.ulps), reason=reason)
        return Tolerance(absolute=float(f"{MARGIN * self.absolute:.1e}"), reason=reason)


@dataclass(frozen=True)
class Effect:
    """Effect of two engines' differences that a user sees, over one episode of each game.

    first (games,): number of actions before the outputs first differed; -1 where they never did.
    measures: return, length and, as 0 or 1, terminated and truncated, (2, games) by engine.
    """

    first: NDArray[np.int64]
    measures: Mapping[str, NDArray[np.float64]]


@dataclass
class Outcome:
    """Result of a run. steps: transitions compared in all; marks: per engine, total count of each mark, if counted.

    is_black_box: the engines have no states and were compared by their outputs. ledger: its entries for these engines;
    known, met: by entry id, how many differences it explained, and in how many of the ``games_begun``. effect: of a
    free-running run. reasons: for the verdict; accepted: reasons that the world accepts. measured: the result of
    ``Measurements.values``.
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
        """Verdict that follows from the reasons."""
        return worst(self.reasons)
