"""Tapes: recorded answers of an engine in one run, which ``tape:DIR`` replays where the original is not available.

A tape is a folder. ``tape.json`` names its world, engine and run. Compressed chunks hold the calls with the engine's
answers, as messages of ``rlparity.engines.channel``; each is named after the SHA-256 of its unpacked content.
"""

import hashlib
import io
import lzma
from abc import abstractmethod
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rlparity.core.prices import price_values
from rlparity.core.trace import STEPPING, Call, RecordedRun
from rlparity.engine import BatchEngine, EngineOptions, Slots, State
from rlparity.engines.channel import Channel
from rlparity.engines.remote import describe_world, methods
from rlparity.errors import UsageError
from rlparity.io.arguments import GAMES, SEED, SHARE, STEPS, OneOf, Values
from rlparity.io.safe_read import GIB, MIB, Unreadable, is_object, read_bytes, read_json, refused
from rlparity.io.strict_json import json_text
from rlparity.world import World

TAPE = "tape:"
MANIFEST, VERSION = "tape.json", 1
UNRECORDED = {"state", "marks"}
"""Compared fields that a tape may lack."""
SETTINGS: Mapping[str, Values | type] = {
    "source": str,
    "steps": STEPS,
    "games": GAMES,
    "seed": SEED,
    "invalid": SHARE,
    "auto_reset": bool,
    "mode": OneOf(("strict", "injected", "resynchronised")),
}
"""Settings of the run that a tape fixes, and their valid values."""
_WHOLE: Mapping[str, Any] = {"dtype": "int32", "shape": ()}
"""Dtype and shape of named actions, in the form of a described ``World.action_space``."""
_ANEW = "fetch or record the tape anew"
_LIMIT = GIB
"""Maximum bytes of a chunk, packed and unpacked."""


class RecordedEngine(BatchEngine):
    """Engine whose calls are written to a tape or read from one; ``last`` is the most recent call."""

    last: Call

    reset, restart, set_state = methods("call", "reset", "restart", "set_state")
    step, step_restarting = methods("call", *STEPPING)
    mask, seeds, facts, marks = methods("read", "mask", "seeds", "facts", "marks")

    @abstractmethod
    def call(self, name: str, *given: Any) -> Any:  # noqa: ANN401 - a method's arguments and result
        """Make a call that changes games."""

    def read(self, name: str) -> Any:  # noqa: ANN401 - a method's result
        """Look up what was read after the last call."""
        return self.last.readings[name]


class _TapeEngine(RecordedEngine):
    """Engine that answers the calls of a tape in order, and no others. ``marks``: the number of marks in the world."""

    def __init__(self, games: int, calls: Iterator[Call], marks: int) -> None:
        self.games = games
        self._calls = calls
        self.last = Call("", (), None, {"marks": np.zeros(marks, np.int64)})

    def call(self, name: str, *given: Any) -> Any:  # noqa: ANN401 - a method's arguments and result
        recorded = next(self._calls, None)
        if recorded is None or recorded.name != name or not all(map(_are_same, recorded.given, given)):
            raise UsageError(f"the tape did not record this {name}: only rlparity run --engines tape:DIR,B plays it.")
        self.last = recorded
        return recorded.result

    def get_state(self, slots: Slots) -> list[State]:
        if "states" not in self.last.readings:
            raise UsageError("the tape holds no states: record it with --states.")
        return [self.last.readings["states"][slot] for slot in slots]


def _are_same(recorded: Any, given: Any) -> bool:  # noqa: ANN401 - arrays or lists of states
    return np.array_equal(recorded, given) if isinstance(recorded, np.ndarray) else recorded == given


@dataclass(frozen=True)
class Tape(RecordedRun):
    """A tape, and the factory of the engine that plays it.

    world: result of ``describe_world``. engine: name of the recorded one. settings: those of ``SETTINGS``. unknown: the
    fields of ``UNRECORDED`` that it lacks. prices: those that were not the game's own, in reward. chunks: SHA-256s.
    """

    folder: Path
    world: Mapping[str, Any]
    engine: str
    settings: Mapping[str, Any]
    unknown: frozenset[str]
    prices: Mapping[str, float]
    chunks: tuple[str, ...]

    def __call__(self, games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        """Open the engine, at the prices that ``open_tape`` sets; raises UsageError where it lacks requested marks."""
        if options.marks and "marks" in self.unknown:
            raise UsageError("the tape holds no marks: record it with --marks.")
        return _TapeEngine(games, self.play(), len(self.world["marks"]))

    def manifest(self) -> dict[str, Any]:
        """Content of ``tape.json`` as JSON values. ``digest``: SHA-256 of all other values, so of the whole tape."""
        value = {name: getattr(self, name) for name in ("world", "engine", "settings", "prices")}
        value |= {"format": "rlparity-tape", "version": VERSION}
        value |= {"unknown": sorted(self.unknown), "chunks": list(self.chunks)}
        return {**value, "digest": hashlib.sha256(json_text(value, sort_keys=True).encode()).hexdigest()}

    def play(self) -> Iterator[Call]:
        """Yield the calls in order. Raises UsageError for a chunk that is missing, broken or edited."""
        for expected in self.chunks:
            path = self.folder / f"{expected}.xz"
            with refused(path, "chunk of the tape", _ANEW, _ANEW):
                packed = lzma.LZMADecompressor(memlimit=_LIMIT)
                try:
                    content = packed.decompress(read_bytes(path, _LIMIT), _LIMIT)
                except (lzma.LZMAError, EOFError) as fault:
                    raise Unreadable(str(fault)) from None
            if not packed.eof or hashlib.sha256(content).hexdigest() != expected:
                raise UsageError(f"{path} is broken or edited, as its SHA-256 shows: {_ANEW}.")
            source = io.BytesIO(content)
            channel = Channel(source, source)
            while source.tell() < len(content):
                try:
                    call = Call(**channel.receive())
                    is_call = _is_call(call, self.settings["games"], self.world.get("action_space") or _WHOLE)
                except (ValueError, TypeError, LookupError, AttributeError, EOFError, RecursionError):
                    is_call = False
                if not is_call:
                    raise UsageError(f"{path} holds an invalid call: record the tape anew.")
                yield call


def _is_call(call: Call, games: int, space: Mapping[str, Any]) -> bool:
    """Tell whether a run can make such a call. Its recorded answer is checked later, as any engine's answers are."""
    first, slots = call.given[0], call.given[-1]
    if call.name in STEPPING:
        return bool(first.dtype == space["dtype"] and first.shape == (games, *space["shape"]))
    is_known = call.name in ("reset", "restart", "set_state") and len(first) == len(slots)
    return bool(is_known and slots.dtype == np.intp and 0 <= slots.min() <= slots.max() < games)


def open_tape(world: World, folder: Path) -> tuple[World, Tape]:
    """Open the tape in a folder; returns ``world`` with its prices, and the tape.

    Raises UsageError where there is none, or it is broken, or of other prices or another version of the world.
    """
    tape, described = read_tape(folder), describe_world(world)
    left_out = {"prices", "marks"} if "marks" in tape.unknown else {"prices"}
    if other := [name for name in described if name not in left_out and tape.world.get(name) != described[name]]:
        wrong = f"is of another version of world '{world.name}', with other {other[0]}"
        raise UsageError(f"the tape in {folder} {wrong}: record it anew.")
    values = price_values(world.with_prices(tape.prices))
    if world.price_values not in (None, values):
        raise UsageError(f"the tape in {folder} was recorded at other prices: leave --price and --prices out.")
    return replace(world, price_values=values), tape


def read_tape(folder: Path) -> Tape:
    """Read the tape in a folder; raises UsageError where there is none, or its manifest is broken or edited."""
    path = folder / MANIFEST
    with refused(path, "tape", "name the folder that rlparity record --tape wrote", _ANEW):
        value = read_json(path, MIB)
    try:
        parts = {name: value[name] for name in ("world", "engine", "settings", "prices")}
        tape = Tape(folder, **parts, unknown=frozenset(value["unknown"]), chunks=tuple(value["chunks"]))
        is_right = tape.manifest() == value and tape.settings.keys() == SETTINGS.keys() and tape.unknown <= UNRECORDED
        for name, kind in SETTINGS.items():
            found = tape.settings[name]
            is_right &= kind.fault(found) is None if isinstance(kind, Values) else type(found) is kind
        is_right = is_right and all(map(is_object, (tape.world, tape.world["marks"], tape.prices)))
    except (LookupError, TypeError, AttributeError, ValueError):
        is_right = False
    if not is_right:
        raise UsageError(f"{path} is broken, edited or of another version: {_ANEW}.")
    return tape


def take_settings(options: Namespace, tape: Tape) -> None:
    """Set the options to the values of a tape; raises UsageError where the command line has others."""
    given = {word.partition("=")[0] for word in options.words}
    for name, value in tape.settings.items():
        flag = f"--{name.replace('_', '-')}"
        if flag in given and getattr(options, name) != value:
            raise UsageError(f"the tape was recorded with another {flag} ({json_text(value)}): leave {flag} out.")
        setattr(options, name, value)
    if options.draw_prices:
        raise UsageError("a tape has the prices that it was recorded at: leave --draw-prices out.")
