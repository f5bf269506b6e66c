"""Settings and outcome of a run of two engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.core.ledger import Ledger
from rlparity.core.noise import Noise
from rlparity.core.replay import Divergence
from rlparity.core.verdict import Reason, Verdict, worst

STRICT, INJECTED, RESYNCHRONISED = MODES = ("strict", "injected", "resynchronised")
FREE_RUNNING = "free-running"
"""A mode of ``rlparity run`` alone, see ``rlparity.core.free_running``."""


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
    known: by id, how many differences each explained. effect: of a free-running run. reasons: for the verdict;
    accepted: those that the world accepts. measured: as ``Measurements.values`` has it.
    """

    steps: int = 0
    episodes: int = 0
    seconds: float = 0.0
    divergences: list[Divergence] = field(default_factory=list)
    marks: tuple[NDArray[np.int64], NDArray[np.int64]] = (np.zeros(0, np.int64),) * 2
    is_black_box: bool = False
    ledger: Ledger | None = None
    known: Mapping[str, int] = field(default_factory=dict)
    effect: Effect | None = None
    reasons: list[Reason] = field(default_factory=list)
    accepted: list[Reason] = field(default_factory=list)
    measured: Mapping[str, Any] = field(default_factory=dict)
    noise: Mapping[str, Noise] | None = None

    @property
    def verdict(self) -> Verdict:
        """What the run shows."""
        return worst(self.reasons)
