"""Rows in shared memory: the same games as through the pipe, and arrays that stay what they are while they are held."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix.swift_env import SwiftEngine
from hackmatrix.swift_env.memory import PIPE, TRANSPORT_VARIABLE, SharedMemory
from hackmatrix.swift_env.process import SwiftProcess
from hackmatrix.swift_env.protocol import FrameCommand, ObservationFormat, games_of, hello, request, size_of_rows
from hackmatrix.world import WORLD
from rlparity import EngineOptions
from rlparity.errors import UsageError
from rlworldkit.envs.episodes import Episodes

pytestmark = pytest.mark.usefixtures("swift_built")

MANY, FEW = 64, 2
"""Whose rows are worth lasting places, and whose are not."""


def observations(games: int, steps: int) -> list[NDArray[np.float32]]:
    """Observations after each step of first valid actions, held until the end and compared with copies."""
    episodes = Episodes(WORLD, games)
    held, copies = [], []
    episodes.start(np.arange(games), np.arange(games, dtype=np.uint64))
    for _ in range(steps):
        episodes.begin_step(episodes.mask.argmax(axis=1))
        ended = np.flatnonzero(episodes.finish_step().terminated)
        episodes.start(ended, in_place=True)
        held.append(episodes.observation)
        copies.append(episodes.observation.copy())
    episodes.close()
    np.testing.assert_array_equal(held, copies)
    return held


@pytest.mark.parametrize("games", [MANY, FEW])
def test_the_games_are_those_of_the_pipe_and_what_is_held_stays(games: int, monkeypatch: pytest.MonkeyPatch) -> None:
    in_memory = observations(games, steps=12)
    monkeypatch.setenv(TRANSPORT_VARIABLE, PIPE)
    np.testing.assert_array_equal(in_memory, observations(games, steps=12))


def test_many_cores_give_what_one_does() -> None:
    """As many games as are shared among cores, and half as many: equal rows and equal marks."""
    seeds = np.arange(1024, dtype=np.uint64)
    together = rows_and_marks(seeds)
    halves = [rows_and_marks(half) for half in np.split(seeds, 2)]
    for mine, *theirs in zip(together[0], *(rows for rows, _ in halves), strict=True):
        np.testing.assert_array_equal(mine, np.concatenate(theirs))
    np.testing.assert_array_equal(together[1], sum(marks for _, marks in halves))


def rows_and_marks(seeds: NDArray[np.uint64]) -> tuple[list[NDArray[Any]], NDArray[np.integer[Any]]]:
    """Rows of a step up in all games, those that end started anew, and counts of its marks."""
    with SwiftEngine(len(seeds), EngineOptions(marks=True)) as engine:
        engine.reset(seeds, np.arange(len(seeds)))
        engine.begin_step(np.zeros(len(seeds), np.int32), restarting=True)
        rows = [np.array(part) for part in engine.receive_step()]
        marks = engine.marks()
        assert marks is not None
        return rows, marks


def test_an_engine_that_cannot_map_the_memory_answers_through_the_pipe(unreliable: Callable[[str], None]) -> None:
    unreliable("no memory")
    with SwiftEngine(FEW, EngineOptions(packed=True)) as engine:
        assert engine.step(np.zeros(FEW, np.int32)).observation.dtype == np.uint8


def test_a_system_without_memory_to_share_is_no_reason_not_to_play(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: int) -> None:
        raise OSError

    monkeypatch.setattr("hackmatrix.swift_env.memory.nameless_file", none)
    assert len(observations(FEW, steps=1)) == 1


def test_a_transport_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRANSPORT_VARIABLE, "pigeon")
    with pytest.raises(UsageError, match="HACKMATRIX_TRANSPORT is 'pigeon': choose memory or pipe"):
        SwiftEngine(1)


def test_a_fork_keeps_what_it_held() -> None:
    """The parent's engine writes to no memory that the fork can see."""
    memory = SharedMemory(1 << 16)
    before, held = memory.place()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    del held
    after = [memory.place() for _ in range(8)]
    assert before not in [offset for offset, _ in after]


def test_what_does_not_fit_is_refused_and_the_games_stay_as_they_were(tmp_path: Path) -> None:
    memory = SharedMemory(size_of_rows(FEW, ObservationFormat.COMPACT))
    with (tmp_path / "short").open("w+b", buffering=0) as short:
        short.write(bytes(7))
        short_number = short.fileno()
        process = SwiftProcess(descriptors=[memory.file.fileno(), short_number])

    def ask(frame: bytes) -> bytes:
        process.send(frame)
        return process.receive().tobytes()

    ask(hello())
    ask(request(FrameCommand.OPEN, FEW, int(ObservationFormat.COMPACT), np.arange(FEW, dtype="<u8")))
    assert b"no memory is shared" in ask(request(FrameCommand.PLACE, 0, request(FrameCommand.OBSERVE)))
    assert b"is no file of 8 bytes" in ask(request(FrameCommand.SHARE, short_number, 8))
    assert ask(request(FrameCommand.SHARE, memory.file.fileno(), memory.total)) == bytes(4)
    places = {
        "too far": (64, request(FrameCommand.RESTART, games_of(None))),
        "off 8": (4, request(FrameCommand.RESTART, games_of(np.array([0])))),
        "far off": (2**32 - 8, request(FrameCommand.RESTART, games_of(None))),
        "no rows": (0, request(FrameCommand.GET_STATES, games_of(None))),
        "twice": (0, request(FrameCommand.PLACE, 0, request(FrameCommand.OBSERVE))),
        "nothing": (0, b""),
    }
    frames = {what: request(FrameCommand.PLACE, *place) for what, place in places.items()}
    frames |= {f"descriptor {number}": request(FrameCommand.SHARE, number, 8) for number in (1, 999, 2**32 - 1)}
    states = request(FrameCommand.GET_PACKED_STATES, games_of(None))
    before = ask(states)
    for what, frame in frames.items():
        assert (ask(frame)[:4], ask(states)) == (b"\1\0\0\0", before), what
    process.close()
