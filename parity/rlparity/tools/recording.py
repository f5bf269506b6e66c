"""Tape recorder: play a run on one engine, and write all of its outputs to a tape."""

import contextlib
import hashlib
import io
import lzma
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.pair import Pair
from rlparity.core.prices import changed_prices
from rlparity.core.settings import Settings
from rlparity.core.trace import Call
from rlparity.engine import BatchEngine, EngineOptions, Slots, State
from rlparity.engines.channel import Channel
from rlparity.engines.remote import describe_world
from rlparity.engines.tape import MANIFEST, SETTINGS, RecordedEngine, Tape
from rlparity.errors import UsageError
from rlparity.io.atomic_write import check_output, write_whole
from rlparity.io.safe_read import MIB
from rlparity.io.strict_json import json_text
from rlparity.world import World

_CHUNK = 16 * MIB
"""Size of a chunk in bytes: the call that reaches it ends the chunk."""


class _RecordingEngine(RecordedEngine):
    """Engine wrapper that writes each call, its result and the readings after it into the chunks of a tape."""

    def __init__(self, engine: BatchEngine, folder: Path, *, marks: bool, states: bool) -> None:
        self.games = engine.games
        self.chunks: list[str] = []
        self._engine = engine
        self._folder = folder
        self._content = io.BytesIO()
        self._channel = Channel(self._content, self._content)
        self._slots = np.arange(engine.games) if states else None
        self._names = ("mask", "seeds", "facts", *(("marks",) if marks else ()))
        self.last = Call("", (), None, {"marks": engine.marks()})

    def call(self, name: str, *given: Any) -> Any:  # noqa: ANN401 - a method's arguments and result
        result = getattr(self._engine, name)(*given)
        readings = {each: getattr(self._engine, each)() for each in self._names}
        if self._slots is not None:
            readings["states"] = self._engine.get_state(self._slots)
        self.last = Call(name, given, result, readings)
        self._channel.send(vars(self.last))
        if self._content.tell() >= _CHUNK:
            self.end_chunk()
        return result

    def get_state(self, slots: Slots) -> list[State]:
        return self._engine.get_state(slots)

    def close(self) -> None:
        self._engine.close()

    def end_chunk(self) -> None:
        """Write the calls since the last chunk to a new chunk."""
        content = self._content.getvalue()
        self.chunks.append(hashlib.sha256(content).hexdigest())
        write_whole(self._folder / f"{self.chunks[-1]}.xz", lzma.compress(content, preset=2))
        self._content.seek(0)
        self._content.truncate()


def record_tape(
    world: World,
    engine: str,
    settings: Settings,
    folder: Path,
    progress: Callable[[], object] = lambda: None,
    *,
    states: bool = True,
) -> Tape:
    """Play a run on one engine and write all of its outputs to a new tape.

    ``states``: record the state of every game after every step. Marks are recorded where ``settings`` ask for them.
    Raises UsageError where the folder holds a tape or cannot be written, EngineError where the engine fails.
    """
    if os.path.exists(folder / MANIFEST):  # pathlib's exists() raises for an impossible file name
        raise UsageError(f"there is a tape in {folder} already: name another folder, or delete that one.")
    check_output(folder / MANIFEST, makes_folders=True)
    unknown = frozenset(name for name, has in (("state", states), ("marks", settings.marks)) if not has)
    opened: list[_RecordingEngine] = []

    def open_recorded(games: int, options: EngineOptions = EngineOptions(), /) -> BatchEngine:
        batch = world.engines[engine](games, options)
        opened.append(_RecordingEngine(batch, folder, marks=settings.marks, states=states))
        return opened[0]

    recorded = replace(world, engines={engine: open_recorded})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Pair(
            recorded, (engine, engine), settings.games, marks=settings.marks, timeout=settings.timeout, alone=True
        ) as pair:
            pair.unknown |= unknown
            LockstepRun(pair, settings).play(progress)
            opened[0].end_chunk()
        fixed = {name: getattr(settings, name) for name in SETTINGS}
        tape = Tape(
            folder, describe_world(world), engine, fixed, unknown, changed_prices(world), tuple(opened[0].chunks)
        )
        write_whole(folder / MANIFEST, json_text(tape.manifest(), indent=1).encode())
    except BaseException as error:  # on Ctrl+C, too: chunks without a manifest are useless
        for chunk in opened[0].chunks if opened else ():
            (folder / f"{chunk}.xz").unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            folder.rmdir()
        if isinstance(error, OSError):
            raise UsageError(f"{folder} cannot be written ({error.strerror}): name another folder.") from error
        raise
    return tape
