"""Ledger of known differences: a TOML file of differences between two engines that a run allows.

    worlds = ["my-world"]                     # of the file; an entry may name some of these as its own

    [entries.rest-heals-less]
    kind = "bug"                              # or deliberate, format, rounding
    citation = "https://..."                  # where it is documented or reported
    versions = { gymnasium = "1.2.0" }        # of both sides; ["1.2.0", "1.1.0"] if they differ
    actions = ["rest"]                        # names, numbers, "start" or "restart"; left out: any
    when = { "player.hp" = { max = 1 } }      # condition on the state before, by path: a value, or min and max
    fields = ["state.player.hp", "mask[*]"]   # exactly what differs, as reports name it; [*] is any index
    then = "resynchronise"                    # copy A's state to B; or drop the game, or ignore
    share = 0.01                              # largest share of the compared steps; 1: no limit
    witness = '''...'''                       # a trace with the engines of the entry; `rlparity ledger add` writes it

``when = "module:function"`` is a condition in Python, ``function(state, action) -> bool``. Before a start or restart
the state is ``{}``; an entry that drops the game applies to no start.

Several entries may explain the differences after one step, each its own fields. If their ``then`` differ, drop wins
over resynchronise, and resynchronise over ignore. A run first replays all witnesses, so that an entry whose difference
is gone fails every run, also one whose games do not show the entry.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import distributions
from itertools import combinations
from pathlib import Path
from typing import Any, Self

from rlparity.core.compare import Difference, keys_of, part_of
from rlparity.core.trace import RESTART, Action, RecordedRun, Trace, check_actions, trace_of
from rlparity.engine import State
from rlparity.errors import UsageError, blamed, quoted
from rlparity.io.arguments import SHARE
from rlparity.io.safe_read import MIB, Unreadable, is_object, json_of, read_text, refused, toml_of
from rlparity.spaces import is_number
from rlparity.world import PLACE, EngineFactory, World, imported

KINDS = ("bug", "deliberate", "format", "rounding")
MARKS = "marks"
LIMIT = 16 * MIB
"""The largest file that is read, in bytes."""
DROP, RESYNCHRONISE, IGNORE = THEN = ("drop", "resynchronise", "ignore")
START = "start"


@dataclass(frozen=True, eq=False)
class Entry:
    """Known difference of a ledger; ``rlparity.core.ledger`` documents its fields. ``actions``: None for any."""

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
        """Engines of the witness, without their places."""
        one, other = self.witness.engines
        return one.partition(PLACE)[0], other.partition(PLACE)[0]

    def explains(self, before: State, action: Action | None, names: set[str]) -> set[str]:
        """Differing fields that the entry explains after an action in this state; none unless all its fields differ."""
        is_start = action is None
        takes = self.actions is None or (START if is_start else action) in self.actions
        if not takes or (is_start and self.then == DROP):
            return set()
        table = {} if self.when is None or isinstance(self.when, str) else self.when
        # checked before the slower patterns: of thousands of entries, few fit a state
        keys = ((path,) if path in before else keys_of(path) for path in table)  # keys of states may have dots
        if not all(_holds(wanted, part_of(before, each)) for each, wanted in zip(keys, table.values(), strict=True)):
            return set()
        hits = [{name for name in names if pattern.fullmatch(name)} for pattern in self._patterns]
        if not all(hits):
            return set()
        with blamed(f"the condition of entry '{self.id}'"):
            fits = not isinstance(self.when, str) or imported(self.when)(before, action)  # type: ignore[operator]
        return set().union(*hits) if fits else set()

    @cached_property
    def _patterns(self) -> list[re.Pattern[str]]:
        return [re.compile(re.escape(name).replace(r"\[\*\]", r"\[[^\]]*\]")) for name in self.fields]


def _holds(wanted: Any, found: Any) -> bool:  # noqa: ANN401 - values of TOML and JSON
    if not isinstance(wanted, dict):
        return type(found) is type(wanted) and found == wanted
    return is_number(found) and wanted.get("min", found) <= found <= wanted.get("max", found)


@dataclass(frozen=True)
class Ledger:
    """Known differences from a ledger file."""

    path: Path
    worlds: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def reads_states(self) -> bool:
        """Whether an entry has a condition on the state before the action."""
        return any(entry.when is not None for entry in self.entries)

    def opened(self, world: World, engines: tuple[str, str]) -> Self:
        """Select the entries for two engines of a world, with the numbers of their actions.

        Raises UsageError for a tape, or where an entry's versions, actions or effect do not fit; EngineError where an
        interpreter cannot tell its versions.
        """
        factories = [world.engines[name] for name in engines]
        if isinstance(factories[0], RecordedRun):
            raise UsageError("a tape cannot replay the witnesses of a ledger: leave the ledger or the tape out.")
        names = tuple(name.partition(PLACE)[0] for name in engines)
        entries = [entry for entry in self.entries if world.name in entry.worlds and entry.engines == names]
        packages = sorted({package for entry in entries for package in entry.versions})
        installed = [installed_versions(factory, packages) for factory in factories]
        for entry in entries:
            self._check_versions(entry, installed)
        return replace(self, entries=tuple(self._of_world(entry, world) for entry in entries))

    def entries_of(self, before: State, action: Action | None, differences: Sequence[Difference]) -> tuple[Entry, ...]:
        """Find the entries that explain all differences but marks after an action in this state; ``None``: the start.

        An entry that explains only part of another's fields gives way to it. Raises UsageError where two share a field.
        """
        names = {difference.field for difference in differences if difference.family != MARKS}
        found = {entry: fields for entry in self.entries if (fields := entry.explains(before, action, names))}
        widest = {
            entry: fields for entry, fields in found.items() if not any(fields < other for other in found.values())
        }
        if not names or set().union(*widest.values()) != names:
            return ()
        for (one, fields), (other, others) in combinations(widest.items(), 2):
            if shared := fields & others:
                both = f"both '{one.id}' and '{other.id}' explain {', '.join(sorted(shared))}"
                raise UsageError(f"in {self.path} {both}: narrow the condition of one.")
        return tuple(widest)

    def faults(self, counts: Mapping[str, int], steps: int) -> list[str]:
        """Sentences on the entries that exceeded their share in a run of ``steps`` steps.

        ``counts``: the number of explained differences by entry id.
        """
        return [
            f"Entry '{entry.id}' explains {counts[entry.id] / max(steps, 1):.3g} of the steps, and its share is "
            f"{entry.share:g}: look for what else it hides."
            for entry in self.entries
            if counts[entry.id] > entry.share * steps and entry.share < 1  # counts include starts
        ]

    def _check_versions(self, entry: Entry, installed: Sequence[Mapping[str, str]]) -> None:
        for package, wanted in entry.versions.items():
            found = [side[package] for side in installed if package in side]
            if found != (wanted if isinstance(wanted, list) else [wanted] * max(1, len(found))):
                words = f"it is for {package} {_sides(wanted)}, and here is {_sides(found)}: look at it again"
                raise _fault(self.path, entry.id, words)

    def _of_world(self, entry: Entry, world: World) -> Entry:
        """Copy an entry with the numbers of its actions; raises UsageError where it does not fit the world."""
        check_actions(world, entry.witness, f"the witness of entry {quoted(entry.id)} of {self.path}")
        if entry.then == RESYNCHRONISE and world.states_replay:
            words = f"engines of world '{world.name}' have no states to resynchronise: say drop or ignore"
            raise _fault(self.path, entry.id, words)
        if entry.then == DROP and entry.actions == (START,):
            raise _fault(self.path, entry.id, "a game cannot be dropped at its start: say resynchronise or ignore")
        numbers = {name: number for number, name in enumerate(world.actions)}
        for action in entry.actions or ():
            if action not in (START, RESTART, *numbers, *numbers.values()):
                raise _fault(self.path, entry.id, f"world '{world.name}' has no action {quoted(action)}")
        actions = [numbers.get(each, each) if isinstance(each, str) else each for each in entry.actions or ()]
        return replace(entry, actions=tuple(actions) or None)


def installed_versions(factory: EngineFactory, packages: Sequence[str]) -> dict[str, str]:
    """Installed versions of the given packages, by name, where an engine runs; raises EngineError.

    The factory of an engine in another process has a method ``versions`` that reports them.
    """
    if versions := getattr(factory, "versions", None):
        return dict(versions(packages))
    return {name: each.version for name in packages for each in [*distributions(name=name)][:1]}


def read_ledger(path: Path) -> Ledger:
    """Read a ledger file; raises UsageError, naming the entry and the fault, where it is invalid."""
    with refused(path, "ledger", "name a file, or write one with `rlparity ledger add`"):
        return ledger_of(read_text(path, LIMIT), path)


def ledger_of(text: str, path: Path) -> Ledger:
    """Parse the text of the ledger file ``path``; raises UsageError as ``read_ledger`` does."""
    with refused(path, "ledger"):
        content = toml_of(text)
    worlds, entries = content.get("worlds", []), content.get("entries", {})
    are_tables = is_object(entries) and entries and all(map(is_object, entries.values()))
    if content.keys() - {"worlds", "entries"} or not _are_texts(worlds) or not are_tables:
        raise UsageError(f"{path} must hold a list of names `worlds`, tables [entries.ID] and nothing else.")
    return Ledger(path, tuple(worlds), tuple(_entry(path, name, worlds, table) for name, table in entries.items()))


def _fault(path: Path, name: str, fault: str) -> UsageError:
    return UsageError(f"entry {quoted(name)} of {path}: {fault}.")


def _entry(path: Path, name: str, worlds: Sequence[str], table: Mapping[str, Any]) -> Entry:
    """Parse the table of an entry; raises UsageError."""
    for key, value in table.items():
        if key not in _KEYS:
            raise _fault(path, name, f"there is no key {quoted(key)}: choose among {', '.join(_KEYS)}")
        is_right, kind = _KEYS[key]
        if not is_right(value):
            raise _fault(path, name, f"{key} must be {kind}, got {quoted(value)}")
    if missing := [key for key in _KEYS if key not in table and key not in _OPTIONAL]:
        raise _fault(path, name, f"it lacks {missing[0]}: add it")
    if other := [world for world in table.get("worlds", ()) if world not in worlds]:
        raise _fault(path, name, f"the world {quoted(other[0])} is not among the file's own: {', '.join(worlds)}")
    try:
        trace = trace_of(json_of(table["witness"].encode()), f"the witness of entry {quoted(name)} of {path}")
    except Unreadable as error:
        raise _fault(path, name, f"its witness cannot be read: {error}") from error
    parts = {"worlds": worlds, **table, "id": name, "witness": trace}.items()
    lists: dict[str, Any] = {key: tuple(part) if isinstance(part, list) else part for key, part in parts}
    return Entry(**lists)


def _sides(versions: str | list[str]) -> str:
    return " and ".join(dict.fromkeys([versions] if isinstance(versions, str) else versions)) or "none"


def _are_texts(value: object, *also: type) -> bool:
    return isinstance(value, list) and bool(value) and all(type(each) in also or _is_text(each) for each in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and value.isprintable()


def _are_versions(value: object) -> bool:
    words = value.values() if isinstance(value, dict) and all(map(_is_text, value)) else ()
    return bool(words) and all(_is_text(each) or (_are_texts(each) and len(each) == 2) for each in words)


def _is_condition(value: object) -> bool:
    if not isinstance(value, dict):
        return isinstance(value, str) and all(value.partition(":"))
    bounds = [each for each in value.values() if isinstance(each, dict)]
    are_bounds = all(each and each.keys() <= {"min", "max"} and all(map(is_number, each.values())) for each in bounds)
    return bool(value) and are_bounds and not any(isinstance(each, list) for each in value.values())


_KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "kind": (lambda value: value in KINDS, " or ".join(KINDS)),
    "citation": (_is_text, "a text of one line"),
    "worlds": (_are_texts, "a list of names"),
    "versions": (_are_versions, "a table of a version, or one of each side, by package"),
    "actions": (lambda value: _are_texts(value, int), "a list of names and numbers"),
    "when": (_is_condition, "module:function, or a table of values, or of min and max, by quoted path"),
    "fields": (_are_texts, "a list of names"),
    "then": (lambda value: value in THEN, " or ".join(THEN)),
    "share": (lambda value: SHARE.fault(value) is None, "a number from 0 to 1"),
    "witness": (lambda value: isinstance(value, str), "the text of a trace"),
}
_OPTIONAL = ("worlds", "actions", "when")
