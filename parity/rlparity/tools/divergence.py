"""The part of documents that says how two engines differ, where in their sources, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class DivergenceDocument:
    """A game in which the engines differ.

    game, step: its number, and the actions after which it differs. fields: all that differ. What comes then is of the
    game that was made small, in the first of those that are ``alike``. trace, report: files. rules: ids that fired in
    the last step. phase: where the engines part.
    """

    game: int
    step: int
    fields: Sequence[str]
    alike: int | None = None
    trace: str | None = None
    report: str | None = None
    rules: Sequence[str] | None = None
    phase: str | None = None
    shrunk_actions: int | None = None
