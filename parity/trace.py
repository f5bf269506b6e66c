"""Cases and trace files: a course of one game, exactly as it can be played again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from parity.compare import Difference
from parity.engine import State
from parity.errors import UsageError

FORMAT = "parity-trace"
VERSION = 1
RESTART: Literal["restart"] = "restart"
Action = int | Literal["restart"]
"""An action's number, or the world's auto-reset after an ended game."""


@dataclass(frozen=True)
class Case:
    """One game: a start (exactly one of seed and state is given) and what is done then.

    ``marks``: rule marks are compared too. ``auto_reset``: steps are taken with the engines' own auto-reset.
    """

    actions: tuple[Action, ...]
    seed: int | None = None
    state: State | None = None
    marks: bool = False
    auto_reset: bool = False

    def prefix(self, length: int) -> Case:
        """The same game, ended after ``length`` actions."""
        return replace(self, actions=self.actions[:length])

    def from_state(self, state: State, done: int) -> Case:
        """The rest of the game after ``done`` actions, begun in the state that was reached."""
        return replace(self, actions=self.actions[done:], seed=None, state=state)


@dataclass(frozen=True)
class Trace:
    """A case in a file, with what two engines made of it.

    differences: where they differed after the last action (empty in recordings).
    rules: rule ids that fired in the last step; found: the case before it was shrunk.
    components: what every action earned, for golden episodes; component_names: what its columns are, None where the
    file does not say (those of older ones).
    """

    world: str
    engines: tuple[str, str]
    case: Case
    differences: tuple[Difference, ...] = ()
    rules: tuple[str, ...] = ()
    found: Case | None = None
    components: tuple[tuple[int | float, ...], ...] | None = None
    component_names: tuple[str, ...] | None = None


def write_trace(trace: Trace, path: Path) -> None:
    """Write ``trace`` as JSON, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(trace_text(trace), encoding="utf-8")
    unfinished.replace(path)


def trace_text(trace: Trace) -> str:
    """The JSON text of a trace: one line for each key, so that version control shows small changes small."""
    value: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "world": trace.world,
        "engines": list(trace.engines),
        **_case_value(trace.case),
    }
    if trace.differences:
        value["differences"] = [asdict(difference) for difference in trace.differences]
    if trace.rules:
        value["rules"] = list(trace.rules)
    if trace.found is not None:
        value["found"] = _case_value(trace.found)
    if trace.component_names is not None:
        value["component_names"] = list(trace.component_names)
    lines = [f"{json.dumps(key)}: {json.dumps(part)}" for key, part in value.items()]
    if trace.components is not None:
        rows = ",\n".join(json.dumps(row) for row in trace.components)
        lines.append(f'"components": [\n{rows}\n]')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _case_value(case: Case) -> dict[str, Any]:
    start = {"seed": case.seed} if case.state is None else {"state": case.state}
    return {"start": start, "actions": list(case.actions), "marks": case.marks, "auto_reset": case.auto_reset}


def read_trace(path: Path) -> Trace:
    """The trace in a file; raises UsageError, naming the fault, when it is not one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no trace file {path}: give the path of one.") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read as a trace: {error}.") from error
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise UsageError(f'{path} is no trace: it lacks "format": "{FORMAT}".')
    if value.get("version") != VERSION:
        raise UsageError(f"{path} is a trace of version {value.get('version')}: this harness reads version {VERSION}.")
    try:
        return _trace(value)
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is a damaged trace ({type(error).__name__}: {error}): write it anew.") from error


def _trace(value: dict[str, Any]) -> Trace:
    one, other = value["engines"]
    components, names = value.get("components"), value.get("component_names")
    return Trace(
        world=str(value["world"]),
        engines=(str(one), str(other)),
        case=_case(value),
        differences=tuple(Difference(**difference) for difference in value.get("differences", [])),
        rules=tuple(value.get("rules", [])),
        found=_case(value["found"]) if "found" in value else None,
        components=None if components is None else tuple(tuple(row) for row in components),
        component_names=None if names is None else tuple(map(str, names)),
    )


def _case(value: dict[str, Any]) -> Case:
    start = value["start"]
    seed, state = start.get("seed"), start.get("state")
    if (seed is None) == (state is None):
        raise ValueError("start needs either a seed or a state")
    if state is None and not (type(seed) is int and 0 <= seed < 2**64):
        raise ValueError(f"seed {seed!r} is no integer in 0 … 2⁶⁴ − 1")
    if state is not None and not isinstance(state, dict):
        raise ValueError("the start state is no object")
    flags = {name: bool(value.get(name, False)) for name in ("marks", "auto_reset")}
    return Case(_actions(value["actions"]), seed, state, **flags)


def _actions(values: Sequence[Any]) -> tuple[Action, ...]:
    for value in values:
        if value != RESTART and not (type(value) is int and value >= 0):
            raise ValueError(f"{value!r} is no action")
    return tuple(values)


def trace_files(folder: Path) -> list[Path]:
    """The trace files of a folder, sorted by name; raises UsageError when there is none."""
    files = sorted(folder.glob("*.json")) if folder.is_dir() else []
    if not files:
        raise UsageError(f"there are no trace files (*.json) in {folder}: name a folder that holds some.")
    return files
