"""JSON documents that the commands print, one class for each; `rlparity schema` prints their schemas."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rlparity.core.compare import Difference
from rlparity.core.trace import Action
from rlparity.core.verdict import Reason, Verdict
from rlparity.tools.coverage import Coverage
from rlparity.tools.divergence import DivergenceDocument
from rlparity.tools.mutants import MutantVerdict
from rlparity.tools.report import NextCommand
from rlparity.tools.rewards import RewardsDocument
from rlparity.tools.transfer import Equivalence

Rows = Sequence[Mapping[str, object]]
"""Rows of a table, as mappings of column names to values; a mean with its interval is a list of three numbers."""


@dataclass(frozen=True)
class ErrorDocument:
    """Error of a command that exits with code 2 (kind ``usage``) or 3 (``engine``, or ``bug`` of this program)."""

    kind: Literal["usage", "engine", "bug"]
    message: str
    next: Sequence[NextCommand]


@dataclass(frozen=True)
class FailureDocument:
    """Document that a command prints instead of its own one when it fails."""

    error: ErrorDocument


@dataclass(frozen=True)
class EffectDocument:
    """Effect of differences on episodes. first: for each game that differs, the actions after which it first does."""

    measures: Rows
    first: Sequence[int]


@dataclass(frozen=True)
class RunDocument:
    """Result of ``run``. measured: which compared fields varied, how games ended, and which actions were taken.

    known, met: the number of differences that each ledger entry explained, and the number of games (of the
    ``games_begun``) that had them. noise: with ``--noise``. effect: in mode ``free-running``.
    """

    verdict: Verdict
    reasons: Sequence[Reason]
    accepted: Sequence[str]
    world: str
    prices: Mapping[str, float]
    tolerances: Mapping[str, Sequence[str]]
    engines: Sequence[str]
    mode: str
    source: str
    seed: int
    games: int
    steps_compared: int
    episodes: int
    seconds: float
    divergences: Sequence[DivergenceDocument]
    is_black_box: bool
    known: Mapping[str, int]
    met: Mapping[str, int]
    games_begun: int
    measured: Mapping[str, Any]
    noise: Rows | None
    effect: EffectDocument | None


@dataclass(frozen=True)
class CoverageDocument(Coverage, RunDocument):
    """Result of ``coverage``, which adds to that of ``run``. rules: hits by rule id, on the side with fewer."""


@dataclass(frozen=True)
class ReplayDocument:
    """Result of ``replay``. actions: the number played; rules: ids of the rules that fired in the last step."""

    verdict: Verdict
    actions: int
    rules: Sequence[str]
    differences: Sequence[Difference]
    divergence: DivergenceDocument | None


@dataclass(frozen=True)
class EpisodesDocument:
    """Golden episodes that ``record`` wrote."""

    files: Sequence[str]


@dataclass(frozen=True)
class TapeDocument:
    """A tape that ``record`` wrote. unknown: fields that it does not hold."""

    tape: str
    digest: str
    unknown: Sequence[str]


@dataclass(frozen=True)
class MutantsDocument:
    """Result of ``mutants``. share: the fraction of judged mutants that were caught.

    unbuildable: mutants that do not build, or whose tests fail without the fault as well; they are not judged.
    """

    world: str
    mutants: Sequence[MutantVerdict]
    caught: int
    judged: int
    share: float
    survivors: Sequence[str]
    unbuildable: Sequence[str]
    same_program: Sequence[str]


@dataclass(frozen=True)
class SideDocument:
    """One side of ``diff``. commit: None where the side is not in a git checkout."""

    label: str
    commit: str | None
    dirty: bool
    prices: Mapping[str, float]


@dataclass(frozen=True)
class DiffDocument:
    """Result of ``diff``. left: episodes dropped from the comparison; refused: starts that an engine refused.

    cases: the first difference of each family, as a trace.
    """

    identical: bool
    unexpected: Sequence[str]
    world: str
    sides: Sequence[SideDocument]
    notes: Sequence[str]
    seed: int
    games: int
    steps: int
    transitions: int
    episodes: int
    left: int
    refused: int
    families: Rows
    components: Rows
    changes: Rows
    returns: Rows
    agents: Rows
    cases: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class TransferDocument:
    """Result of ``transfer``. games: of each policy's first round; ended: per policy, games ended on both engines."""

    equivalent: bool
    reason: str
    world: str
    prices: Mapping[str, float]
    engines: Sequence[str]
    games: int
    steps: int
    seed: int
    margin: float
    ended: Sequence[int]
    tests: Sequence[Equivalence]


@dataclass(frozen=True)
class StopDocument:
    """Position where ``debug`` stopped. stopped: the condition that holds; marks: counts by mark on the reference.

    message: result of the command that ``--commands`` carried out.
    """

    step: int
    stopped: str | None
    action: Action | None
    differences: Sequence[Difference]
    marks: Mapping[str, int] | None
    phase: str
    state: Mapping[str, Any]
    message: str | None = None


@dataclass(frozen=True)
class EntryDocument:
    """The entry that ``ledger add`` wrote."""

    ledger: str
    id: str


@dataclass(frozen=True)
class WitnessesDocument:
    """Result of ``ledger check``. faults: entries whose difference has changed or is gone."""

    entries: int
    faults: Sequence[str]


@dataclass(frozen=True)
class Check:
    """Result of one check. remedy: what to do about it, empty where ``found`` already says so."""

    name: str
    status: Literal["ok", "note", "broken"]
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class DoctorDocument:
    """Result of ``doctor``."""

    ok: bool
    checks: Sequence[Check]


DOCUMENTS: Mapping[str, Any] = {
    "run": RunDocument,
    "replay": ReplayDocument,
    "coverage": CoverageDocument,
    "rewards": RewardsDocument,
    "record": EpisodesDocument | TapeDocument,
    "mutants": MutantsDocument,
    "diff": DiffDocument,
    "transfer": TransferDocument,
    "debug": StopDocument,
    "ledger-add": EntryDocument,
    "ledger-check": WitnessesDocument,
    "doctor": DoctorDocument,
}
"""Document types by command, as printed with ``--json`` when the command succeeds."""
