"""Parser of a program compiled for a TPU: operations, their estimated cycles, and the source lines they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from shared.loop_counts import Place, Rounds, calls_of

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
UNESTIMATED = ("gather", "scatter", "sort", "reduce-window", *COLLECTIVES)
"""Operations that cost time on a TPU, but for which the compiler estimates no cycles unless they are fused."""
_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{$")
_OPERATION = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (.*?) ([a-z][a-z0-9\-]*)\(")
_CYCLES = re.compile(r'"estimated_cycles":"(\d+)"')
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_FRAME = re.compile(r"stack_frame_id=(\d+)")
_CALLED = re.compile(r"(?:body|condition|to_apply|calls|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")


@dataclass
class Operation:
    """One operation of a computation."""

    name: str
    kind: str
    shape: str
    cycles: int
    place: Place
    called: tuple[str, ...]
    trips: int | None
    """Trip count of a loop, if the compiler knows it."""


@dataclass
class TpuProgram:
    """Computations of a program, by name."""

    computations: dict[str, list[Operation]] = field(default_factory=dict)
    entry: str = ""

    @cached_property
    def whiles(self) -> Counter[frozenset[tuple[str, int]]]:
        """Number of loops from each place: the compiler may split one loop into several."""
        return Counter(
            calls_of(each.place) for part in self.computations.values() for each in part if each.kind == "while"
        )

    def runs(self, rounds: Rounds) -> tuple[dict[str, float], list[Operation]]:
        """Count the runs of each computation per call; also list the loops and branches that ``rounds`` lacks.

        A loop that it lacks counts with the compiler's trip count, or once; a branch, as often as its conditional runs.
        """
        found: dict[str, float] = {}
        unknown: list[Operation] = []

        def visit(name: str, times: float) -> None:
            found[name] = found.get(name, 0.0) + times
            for operation in self.computations.get(name, ()):
                for called, number in self._calls(operation, times, rounds, unknown):
                    visit(called, number)

        visit(self.entry, 1.0)
        return found, unknown

    def without_cycles(self, operation: Operation) -> list[str]:
        """List the ``UNESTIMATED`` kinds of operations in an operation for which the compiler gives no cycles."""
        inside = [each.kind for name in operation.called for each in self.computations[name]]
        kinds = inside if operation.kind == "fusion" else [operation.kind]
        return [] if operation.cycles else [kind for kind in kinds if kind in UNESTIMATED]

    def _calls(
        self,
        operation: Operation,
        times: float,
        rounds: Rounds,
        unknown: list[Operation],
    ) -> Iterator[tuple[str, float]]:
        place = calls_of(operation.place)
        if operation.kind == "while":
            number = rounds.get((place, 0))
            if number is None:
                unknown.append(operation)
                number = times * (operation.trips or 1)
            else:
                number /= self.whiles[place]
            yield from ((name, number) for name in operation.called)
        elif operation.kind == "conditional":
            for branch, name in enumerate(operation.called):
                number = rounds.get((place, branch))
                if number is None and branch == 0:
                    unknown.append(operation)
                yield name, times if number is None else number
        elif operation.kind in ("call", "async-start"):
            yield from ((name, times) for name in operation.called)


def read(text: str) -> TpuProgram:
    """Parse a compiled text (``jax.stages.Compiled.as_text``)."""
    places = _places(text)
    program, current = TpuProgram(), list[Operation]()
    for line in text.splitlines():
        if begun := _COMPUTATION.match(line) if "->" in line else None:
            current = program.computations[begun[2]] = []
            program.entry = begun[2] if begun[1] else program.entry
        elif found := _OPERATION.match(line):
            current.append(_operation(found, line, places))
    return program


def _operation(found: re.Match[str], line: str, places: dict[str, Place]) -> Operation:
    cycles, trips, frame = _CYCLES.search(line), _TRIPS.search(line), _FRAME.search(line)
    branches = _BRANCHES.search(line)
    names = re.findall(r"[\w.\-]+", branches[1]) if branches else _CALLED.findall(line)
    if "true_computation" in line:
        names.reverse()  # the false computation is branch 0
    return Operation(
        name=found[1],
        kind=found[3],
        shape=found[2],
        cycles=int(cycles[1]) if cycles else 0,
        place=places.get(frame[1], ()) if frame else (),
        called=tuple(names),
        trips=int(trips[1]) if trips else None,
    )


def _places(text: str) -> dict[str, Place]:
    """Read the stack of each ``stack_frame_id`` from the tables at the beginning of a text."""

    def table(name: str, row: str) -> dict[str, tuple[str, ...]]:
        found = re.search(rf"^{name}\n((?:\d+ .*\n)+)", text, re.MULTILINE)
        return {each[0]: each[1:] for each in re.findall(rf"^(\d+) {row}", found[1] if found else "", re.MULTILINE)}

    files, lines = table("FileNames", r'"(.*)"()'), table("FileLocations", r"\{file_name_id=(\d+) .*?\bline=(\d+) ")
    frames = table("StackFrames", r"\{file_location_id=(\d+) parent_frame_id=(\d+)\}")

    def chain(frame: str) -> Iterator[tuple[str, int]]:
        while frame in frames:
            location, parent = frames[frame]
            file, line = lines[location]
            yield files[file][0], int(line)
            frame = str(int(parent) - 1)  # frames count from 1, and their parents from 2

    return {frame: tuple(chain(frame)) for frame in frames}
