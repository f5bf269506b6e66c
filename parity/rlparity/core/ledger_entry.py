"""Entries of a ledger of known differences, and what one explains."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rlparity.core.trace import Action, Trace
from rlparity.engine import State
from rlparity.errors import blamed
from rlparity.spaces import is_number
from rlparity.world import PLACE, imported

DROP, RESYNCHRONISE, IGNORE = THEN = ("drop", "resynchronise", "ignore")
START = "start"


@dataclass(frozen=True, eq=False)
class Entry:
    """One known difference; ``rlparity.core.ledger`` says what its parts mean. ``actions``: None for any."""

    id: str
    kind: str
    citation: str
    worlds: tuple[str, ...]
    versions: Mapping[str, str | list[str]]
    fields: tuple[str, ...]
    then: str
    share: float
    witness: Trace
    actions: tuple[int | str, ...] | None = None
    when: Mapping[str, Any] | str | None = None

    @property
    def engines(self) -> tuple[str, str]:
        """The engines of the witness, wherever they ran."""
        one, other = self.witness.engines
        return one.partition(PLACE)[0], other.partition(PLACE)[0]

    def explains(self, before: State, action: Action | None, names: set[str]) -> set[str]:
        """Those of the fields that differ after an action in this state that are the entry's; none if only some do."""
        if (action is None and self.then == DROP) or not self._takes(action):
            return set()
        hits = [{name for name in names if pattern.fullmatch(name)} for pattern in self._patterns]
        if not all(hits):
            return set()
        with blamed(f"the condition of entry '{self.id}'"):
            return set().union(*hits) if self._condition(before, action) else set()

    def _takes(self, action: Action | None) -> bool:
        return self.actions is None or (START if action is None else action) in self.actions

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(re.escape(name).replace(r"\[\*\]", r"\[[^\]]*\]")) for name in self.fields]

    @cached_property
    def _condition(self) -> Callable[[State, Action | None], object]:
        if isinstance(self.when, str):
            return imported(self.when)  # type: ignore[return-value]
        table = self.when or {}
        return lambda state, action: all(_holds(wanted, _part(state, path)) for path, wanted in table.items())


def _part(state: object, path: str) -> object:
    """The part of a state at a path such as ``player.hp`` or ``enemies[0].row``; None where it has none."""
    if isinstance(state, dict) and path in state:  # names of states may have dots
        return state[path]
    for name in re.findall(r"[^.\[\]]+", path):
        try:
            state = state[int(name) if isinstance(state, list) else name]  # type: ignore[index]
        except (LookupError, TypeError, ValueError):
            return None
    return state


def _holds(wanted: Any, found: Any) -> bool:  # noqa: ANN401 - values of TOML and JSON
    if not isinstance(wanted, dict):
        return type(found) is type(wanted) and found == wanted
    return is_number(found) and wanted.get("min", found) <= found <= wanted.get("max", found)
