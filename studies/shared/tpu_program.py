"""A program compiled for a TPU, read from its text: operations, their estimated cycles, and where they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from shared.loop_counts import Place, Rounds, calls_of

COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
UNESTIMATED = ("gather", "scatter", "sort", "reduce-window", *COLLECTIVES)
"""Operations that take time of a TPU, of which the compiler gives no estimate unless they are fused with others."""
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
    """Rounds of a loop that the compiler knows."""


@dataclass
class TpuProgram:
    """The computations of a program, by name."""

    computations: dict[str, list[Operation]] = field(default_factory=dict)
    entry: str = ""

    @cached_property
    def whiles(self) -> Counter[frozenset[tuple[str, int]]]:
        """Number of loops from each place: a compiler may make several of one."""
        return Counter(
            calls_of(each.place) for part in self.computations.values() for each in part if each.kind == "while"
        )

    def runs(self, rounds: Rounds) -> tuple[dict[str, float], list[Operation]]:
        """How often each computation runs in a call, and the loops and branches that ``rounds`` does not count.

        A loop that is not counted runs as often as the compiler says, or once; a branch, whenever it is asked.
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
        """The kinds of work, of ``UNESTIMATED``, in an operation for which the compiler gives no cycles."""
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
    """The program of a compiled text (``jax.stages.Compiled.as_text``)."""
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
        names.reverse()  # the false one is branch 0
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
    """The place of each ``stack_frame_id`` by the tables at the beginning of a text."""

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
