"""Tables of cases: a state, what is done, and what that gives."""

from dataclasses import dataclass
from typing import Any

import pytest

from .engines import Engine, Json, StateDict


@dataclass(frozen=True)
class Case:
    """A state, some actions, and facts after the last of them, by the names of ``Outcome.facts``."""

    start: StateDict
    actions: tuple[int, ...]
    expected: dict[str, Any]

    def seen_by(self, engine: Engine) -> dict[str, Any]:
        facts = engine.play(self.start, *self.actions).facts
        return {name: facts[name] for name in self.expected}


def case(what: str, start: StateDict, *actions: int, **expected: Json) -> Json:
    """A row of a table: a state, one or more actions, and what the last of them gives."""
    return pytest.param(Case(start, actions, expected), id=what)


def cases(*rows: Json) -> pytest.MarkDecorator:
    """The table by which a test is run; its argument is called ``case``."""
    return pytest.mark.parametrize("case", rows)
