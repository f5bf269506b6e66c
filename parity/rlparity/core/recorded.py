"""A recorded run, as a lockstep run replays it: the calls that one engine answered, in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

STEPPING = ("step", "step_restarting")


@dataclass(frozen=True)
class Call:
    """A call that changed games. given, result: of the method of that name; readings: by name, what was read then."""

    name: str
    given: Sequence[Any]
    result: Any
    readings: Mapping[str, Any]


class RecordedRun(ABC):
    """Factory of an engine that repeats a recorded run and plays no other games.

    settings: of ``Settings`` of a run, those that the recording fixes. unknown: compared fields that it lacks.
    """

    settings: Mapping[str, Any]
    unknown: Collection[str]

    @abstractmethod
    def play(self) -> Iterator[Call]:
        """The calls in their order; raises UsageError where the recording is broken."""
