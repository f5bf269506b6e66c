"""What commands print as JSON, one class for each; `rlparity schema` prints their schemas."""

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
"""Rows of a table, by the names of its columns; a mean with its interval is a list of three numbers."""


@dataclass(frozen=True)
class ErrorDocument:
    """A command that ends with exit code 2 (kind ``usage``) or 3 (``engine``, or ``bug`` of this program)."""

    kind: Literal["usage", "engine", "bug"]
    message: str
    next: Sequence[NextCommand]


@dataclass(frozen=True)
class FailureDocument:
    """What a command prints instead of its own document when it fails."""

    error: ErrorDocument


@dataclass(frozen=True)
class EffectDocument:
    """What a user sees of differences. first: of each game that differs, the actions after which it first does."""

    measures: Rows
    first: Sequence[int]


@dataclass(frozen=True)
class RunDocument:
    """What ``run`` found. measured: what of all that is compared varied, how games ended and which actions were taken.

    known, met: how many differences each entry of the ledger explained, and in how many of the ``games_begun``. noise,
    effect: of ``--noise`` and ``free-running``.
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
    """What ``coverage`` found beside what ``run`` does. rules: hits by id, on the side with fewer."""


@dataclass(frozen=True)
class ReplayDocument:
    """What ``replay`` found. actions: how many were played; rules: ids that fired in the last step."""

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
    """A tape that ``record`` wrote. unknown: fields that it does not have."""

    tape: str
    digest: str
    unknown: Sequence[str]


@dataclass(frozen=True)
class MutantsDocument:
    """What ``mutants`` found. share: of the judged ones, those that were caught."""

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
    """One side of ``diff``; commit: None where it is none of git."""

    label: str
    commit: str | None
    dirty: bool
    prices: Mapping[str, float]


@dataclass(frozen=True)
class DiffDocument:
    """What ``diff`` found. left: episodes that left the comparison; refused: starts that an engine refused.

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
    """What ``transfer`` found. games: that each policy plays first; ended: of all, those that ended on both engines."""

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
    """Where ``debug`` stopped. stopped: the condition that holds; marks: how often each fired on the reference.

    message: what the command did that ``--commands`` carried out.
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
    """What ``ledger check`` found. faults: entries whose difference is another one, or gone."""

    entries: int
    faults: Sequence[str]


@dataclass(frozen=True)
class Check:
    """Result of one check; ``remedy`` is what to do about it, unless ``found`` says that already."""

    name: str
    status: Literal["ok", "note", "broken"]
    found: str
    remedy: str = ""


@dataclass(frozen=True)
class DoctorDocument:
    """What ``doctor`` found."""

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
"""Command -> what it prints with ``--json`` unless it fails."""
