"""Cases and trace files, which replay one game exactly, and the interface of recorded runs."""

import os
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import Difference
from rlparity.engine import State
from rlparity.errors import UsageError, quoted
from rlparity.io.atomic_write import write_text
from rlparity.io.safe_read import MIB, read_json, refused
from rlparity.io.strict_json import is_json_number, json_text, number_of
from rlparity.spaces import action_numbers, is_count, is_number
from rlparity.world import World

FORMAT = "rlparity-trace"
VERSION = 1
LIMIT = 64 * MIB
"""The largest trace file that is read, in bytes."""
MOST_ACTIONS = 2**31
"""Upper bound of action numbers, because engines take actions as int32."""
RESTART: Literal["restart"] = "restart"
Action = int | tuple[int | float, ...] | Literal["restart"]
"""Number of an action, numbers of an array action, or ``restart``: the world's auto-reset of an ended game."""
TRIM_EVERY = 1024
"""Steps after which a history drops the actions from before all current games."""
STEPPING = ("step", "step_restarting")
"""Calls of a recorded run that are steps."""
_PARTS = {part.name for part in fields(Difference)}


@dataclass(frozen=True)
class Case:
    """One game: a start (exactly one of seed and state is given) and the actions that follow.

    ``marks``: rule marks are compared too. ``auto_reset``: steps are taken with the engines' own auto-reset.
    """

    actions: tuple[Action, ...]
    seed: int | None = None
    state: State | None = None
    marks: bool = False
    auto_reset: bool = False

    def prefix(self, length: int) -> Self:
        """The same game, ended after ``length`` actions."""
        return replace(self, actions=self.actions[:length])

    def from_state(self, state: State, done: int) -> Self:
        """The rest of the game after ``done`` actions, begun in the state that was reached."""
        return replace(self, actions=self.actions[done:], seed=None, state=state)


class History:
    """Actions in every slot since its present game began."""

    def __init__(self, games: int, *, marks: bool, auto_reset: bool) -> None:
        self._rows: list[NDArray[Any]] = []
        self._trimmed = 0
        self._begun = np.zeros(games, dtype=np.int64)
        self._starts: list[int | State] = [0] * games
        self._blank = Case((), marks=marks, auto_reset=auto_reset)

    def begin(self, slot: int, start: int | State) -> None:
        """Record that a game begins in ``slot`` from a seed or a state."""
        self._begun[slot] = self._trimmed + len(self._rows)
        self._starts[slot] = start

    def add(self, actions: NDArray[Any]) -> None:
        """Record an action of every game."""
        self._rows.append(actions)
        if len(self._rows) % TRIM_EVERY == 0:
            unneeded = int(self._begun.min()) - self._trimmed
            del self._rows[:unneeded]
            self._trimmed += unneeded

    def last(self, slot: int) -> Action | None:
        """The last action of the game in ``slot``; None before its first."""
        is_new = self._begun[slot] == self._trimmed + len(self._rows)
        return None if is_new else action_numbers(self._rows[-1][slot])

    def is_placed(self, slot: int) -> bool:
        """Tell whether the game in ``slot`` began in a state."""
        return not isinstance(self._starts[slot], int)

    def case(self, slot: int, *then: Action) -> Case:
        """Case of the game in ``slot`` so far, with the further actions ``then``."""
        rows = self._rows[int(self._begun[slot]) - self._trimmed :]
        start = self._starts[slot]
        actions = (*(action_numbers(row[slot]) for row in rows), *then)
        case = replace(self._blank, actions=actions)
        return replace(case, seed=start) if isinstance(start, int) else replace(case, state=start)


@dataclass(frozen=True)
class Trace:
    """Case in a file, with the results of two engines.

    differences: where they differed after the last action (empty in recordings).
    rules: rule ids that fired in the last step; found: the case before it was shrunk.
    components: reward components of every action, for golden episodes; component_names: names of its columns, None
    where an older file lacks them. prices: those that were not the game's own, in reward.
    mode: of the run that found it, where it was not strict.
    """

    world: str
    engines: tuple[str, str]
    case: Case
    differences: tuple[Difference, ...] = ()
    rules: tuple[str, ...] = ()
    found: Case | None = None
    components: tuple[tuple[int | float, ...], ...] | None = None
    component_names: tuple[str, ...] | None = None
    prices: Mapping[str, float] = field(default_factory=dict)
    mode: str = ""


def write_trace(trace: Trace, path: Path) -> None:
    """Write ``trace`` as JSON, atomically; raises UsageError where the file cannot be written."""
    write_text(path, trace_text(trace))


def trace_value(trace: Trace) -> dict[str, Any]:
    """The JSON value of a trace."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "world": trace.world,
        "engines": list(trace.engines),
        **_case_value(trace.case),
    }
    further = {
        "differences": [asdict(difference) for difference in trace.differences] or None,
        "rules": trace.rules or None,
        "found": trace.found and _case_value(trace.found),
        "component_names": trace.component_names,
        "prices": dict(trace.prices) or None,
        "mode": trace.mode or None,
        "components": trace.components,
    }
    return value | {name: part for name, part in further.items() if part is not None}


def trace_text(trace: Trace) -> str:
    """The JSON text of a trace: one line for each key, so that small changes give small diffs."""
    value = trace_value(trace)
    rows = value.pop("components", None)
    lines = [f"{json_text(key)}: {json_text(part)}" for key, part in value.items()]
    if rows is not None:
        lines.append('"components": [\n' + ",\n".join(map(json_text, rows)) + "\n]")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _case_value(case: Case) -> dict[str, Any]:
    start = {"seed": case.seed} if case.state is None else {"state": case.state}
    return {"start": start, "actions": list(case.actions), "marks": case.marks, "auto_reset": case.auto_reset}


def read_trace(path: Path) -> Trace:
    """Read a trace file; raises UsageError, naming the fault, where it is invalid."""
    with refused(path, "trace file", "give the path of one", "write it anew"):
        return trace_of(read_json(path, LIMIT), path)


def trace_of(value: object, path: Path | str) -> Trace:
    """Parse a trace from a JSON value found in ``path``; raises UsageError, naming the fault, where it is invalid."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise UsageError(f'{path} is no trace: it lacks "format": "{FORMAT}".')
    if value.get("version") != VERSION:
        version = quoted(value.get("version"))
        raise UsageError(f"{path} is a trace of version {version}: this harness reads version {VERSION}.")
    try:
        return _trace(value)
    except KeyError as missing:
        raise UsageError(f"{path} is a damaged trace: it lacks {missing}: write it anew.") from missing
    except ValueError as fault:
        raise UsageError(f"{path} is a damaged trace: {fault}: write it anew.") from fault


def _trace(value: dict[str, Any]) -> Trace:
    """Parse a trace from a JSON object; raises KeyError for missing parts, ValueError for invalid ones."""
    engines, names, prices = value["engines"], value.get("component_names"), value.get("prices", {})
    mode = value.get("mode", "")
    _demand(isinstance(value["world"], str), f"its world {quoted(value['world'])} is no name")
    _demand(_are(engines, str) and len(engines) == 2, "its engines are not two names")
    _demand(_are(value.get("rules", []), str), "its rules are no list of names")
    _demand(names is None or _are(names, str), "its component_names are no list of names")
    _demand(isinstance(mode, str), f"its mode {quoted(mode)} is no name")
    are_prices = isinstance(prices, dict) and all(map(is_json_number, prices.values()))
    _demand(are_prices, "its prices are no numbers by name")
    return Trace(
        world=value["world"],
        engines=(engines[0], engines[1]),
        case=_case(value),
        differences=_differences(value.get("differences", [])),
        rules=tuple(value.get("rules", [])),
        found=_case(value["found"]) if "found" in value else None,
        components=_components(value["components"]) if "components" in value else None,
        component_names=None if names is None else tuple(names),
        prices=prices,
        mode=mode,
    )


def _demand(holds: bool, fault: str) -> None:
    if not holds:
        raise ValueError(fault)


def _are(values: object, kind: type) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


def _components(rows: list[list[object]]) -> tuple[tuple[int | float, ...], ...]:
    is_table = _are(rows, list) and all(map(is_json_number, chain.from_iterable(rows)))
    _demand(is_table, "its components are no list of lists of numbers")
    return tuple(tuple(map(number_of, row)) for row in rows)


def _differences(values: list[dict[str, object]]) -> tuple[Difference, ...]:
    _demand(isinstance(values, list), "its differences are no list")
    for value in values:
        is_one = isinstance(value, dict) and value.keys() == _PARTS and isinstance(value["field"], str)
        _demand(is_one, f"one of its differences has not the parts {', '.join(sorted(_PARTS))}")
    return tuple(Difference(**{name: number_of(part) for name, part in value.items()}) for value in values)


def _case(value: dict[str, Any]) -> Case:
    _demand(isinstance(value, dict), "a case is no object")
    start, actions = value["start"], value["actions"]
    flags = {name: value.get(name, False) for name in ("marks", "auto_reset")}
    _demand(isinstance(start, dict), "its start is no object")
    seed, state = start.get("seed"), start.get("state")
    _demand((seed is None) != (state is None), "its start needs either a seed or a state")
    _demand(state is not None or is_count(seed, 2**64), f"its seed {quoted(seed)} is no integer in 0 ... 2^64 - 1")
    _demand(state is None or isinstance(state, dict), "its start state is no object")
    _demand(isinstance(actions, list), "its actions are no list")
    for action in actions:
        is_array = isinstance(action, list) and all(map(is_number, action))
        _demand(action == RESTART or is_count(action, MOST_ACTIONS) or is_array, f"{quoted(action)} is no action")
    for name, flag in flags.items():
        _demand(isinstance(flag, bool), f"its {name} is {quoted(flag)}, neither true nor false")
    taken = (tuple(action) if isinstance(action, list) else action for action in actions)
    return Case(tuple(taken), seed, state, **flags)


def check_actions(world: World, trace: Trace, place: Path | str) -> None:
    """Raise UsageError where a trace has an action that the world lacks; ``place``: the trace's name in the error."""
    space = world.action_space
    for action in trace.case.actions:
        has = space.contains(action) if space else isinstance(action, int) and action < len(world.actions)
        if action != RESTART and not has:
            raise UsageError(f"{place} holds action {action}, which world '{world.name}' does not have.")


def batch_of(world: World, action: int | tuple[int | float, ...]) -> NDArray[Any]:
    """Batch of one action, as an engine of one game takes it: (1,) int32, or (1, *shape) in the world's space."""
    return np.array([action], np.int32) if world.action_space is None else world.action_space.array([action])


def trace_files(folder: Path) -> list[Path]:
    """The trace files of a folder, sorted by name; raises UsageError when there is none."""
    # pathlib's own is_dir raises for a name that no folder can have
    files = sorted(folder.glob("*.json")) if os.path.isdir(folder) else []
    if not files:
        raise UsageError(f"there are no trace files (*.json) in {folder}: name a folder that holds some.")
    return files


@dataclass(frozen=True)
class Call:
    """Call that changed games. given, result: of the method of that name; readings: values read afterwards, by name."""

    name: str
    given: Sequence[Any]
    result: Any
    readings: Mapping[str, Any]


class RecordedRun(ABC):
    """Factory of an engine that repeats a recorded run and plays no other games.

    settings: those ``Settings`` of a run that the recording fixes. unknown: compared fields that the recording lacks.
    """

    settings: Mapping[str, Any]
    unknown: Collection[str]

    @abstractmethod
    def play(self) -> Iterator[Call]:
        """Yield the calls in order; raises UsageError where the recording is broken."""
