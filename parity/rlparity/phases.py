"""Phases of one step, as an engine tells them to a debugger (``BatchEngine.phases``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Draw:
    """A random word that a rule drew: its address, as the world's rules have it, and its value."""

    address: tuple[str | int, ...]
    word: int

    @property
    def text(self) -> str:
        """The address in words, such as ``3 ORDER 7``."""
        return " ".join(map(str, self.address))


@dataclass(frozen=True)
class Phase:
    """A phase of a step: its name, the complete state after it and the words that it drew; None: it does not tell."""

    name: str
    state: dict[str, Any]
    draws: tuple[Draw, ...] | None = None
