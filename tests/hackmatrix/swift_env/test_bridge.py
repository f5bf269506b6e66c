"""The bridge to the Swift engine: rows, states, refusals, prices of its JSON mode, and the end of its process."""

import gc
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from hackmatrix import rules
from hackmatrix.rules import EVENTS
from hackmatrix.swift_env import CommandRefused, SwiftEngine, SwiftEngineError
from hackmatrix.swift_env.memory import MEMORY, PIPE
from hackmatrix.swift_env.process import BINARY_VARIABLE
from hackmatrix.swift_env.protocol import VERSION
from hackmatrix.world import open_swift
from rlparity import EngineOptions, StateRefused

pytestmark = pytest.mark.usefixtures("swift_built")

GAMES = 5
SEEDS, SLOTS = np.arange(GAMES, dtype=np.uint64), np.arange(GAMES)


def ends(process: int) -> bool:
    """True where a process ends soon; the zombie of an orphan is its new parent's to collect."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            if psutil.Process(process).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


LEFT = f"""
import os, sys
from hackmatrix.swift_env import SwiftEngine
for transport in ({MEMORY!r}, {PIPE!r}):
    os.environ["HACKMATRIX_TRANSPORT"] = transport
    for end in (lambda: sys.exit(), lambda: os._exit(3), lambda: os.kill(os.getpid(), 9)):
        if not os.fork():
            engine = SwiftEngine(1)
            print(engine._process._process.pid, flush=True)
            end()
        os.wait()
"""


def test_no_engine_is_left_after_its_interpreter_ended() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT], stdout=subprocess.PIPE, text=True, check=True)
    engines = list(map(int, done.stdout.split()))
    assert len(engines) == 6
    assert all(map(ends, engines))


def test_another_version_of_the_protocol(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = f"""#!{sys.executable}
import struct, sys
sys.stdin.buffer.read(16)
body = struct.pack('<7I', 0, 1, 1545, 28, 15, 5, 187) + b'1'
sys.stdout.buffer.write(struct.pack('<I', len(body)) + body)
sys.stdout.flush()
sys.stdin.buffer.read()
"""
    engine = tmp_path / "engine"
    engine.write_text(program)
    engine.chmod(0o755)
    monkeypatch.setenv(BINARY_VARIABLE, str(engine))
    with pytest.raises(SwiftEngineError, match=rf"version 1 of the protocol and not {VERSION}.*\./swift-build"):
        SwiftEngine(GAMES)


@pytest.mark.usefixtures("transport")
def test_no_process_is_left_after_close_and_after_the_last_reference_is_gone() -> None:
    closed, lost = SwiftEngine(GAMES), SwiftEngine(GAMES)
    process, number = closed._process._process, lost._process._process.pid
    closed.close()
    closed.close()
    assert process.returncode == 0
    with pytest.raises(SwiftEngineError, match="is closed"):
        closed.rules()
    del lost
    gc.collect()
    assert not psutil.pid_exists(process.pid)
    assert not psutil.pid_exists(number)


@pytest.fixture
def engine(transport: str) -> Iterator[SwiftEngine]:
    with SwiftEngine(GAMES) as engine:
        engine.reset(SEEDS, SLOTS)
        yield engine


def test_packed_observations_are_the_same_values(engine: SwiftEngine, transport: str) -> None:
    floats = engine.reset(SEEDS, SLOTS)
    with SwiftEngine(GAMES, EngineOptions(packed=True)) as packing:
        packed = packing.reset(SEEDS, SLOTS)
        assert packed.dtype == (np.uint8 if transport == PIPE else np.float32)
        np.testing.assert_array_equal(packing.unpacked(packed), floats)


def test_reset_and_restart_concern_their_games_alone(engine: SwiftEngine) -> None:
    before = engine.get_state(SLOTS)
    engine.reset(np.array([77], np.uint64), np.array([3]))
    engine.restart(np.array([1]))
    after = engine.get_state(SLOTS)
    assert after[3]["seed"] == 77
    assert after[1]["seed"] not in (1, 77)
    assert [after[game] for game in (0, 2, 4)] == [before[game] for game in (0, 2, 4)]


def test_states_are_set_all_or_none(engine: SwiftEngine) -> None:
    before = engine.get_state(SLOTS)
    swapped = [before[1], before[0]]
    engine.set_state(swapped, np.array([0, 1]))
    assert engine.get_state(SLOTS)[:2] == swapped
    with pytest.raises(StateRefused, match="stage"):
        engine.set_state([before[0], {**before[1], "stage": 11}], np.array([0, 1]))
    assert engine.get_state(SLOTS)[:2] == swapped


def test_an_action_outside_the_range_is_refused(engine: SwiftEngine) -> None:
    said = f"game 2 must be .* to {rules.NUM_ACTIONS - 1}, not {rules.NUM_ACTIONS}"
    with pytest.raises(CommandRefused, match=said):
        engine.step(np.array([0, 0, rules.NUM_ACTIONS, 0, 0], np.int32))
    assert [state["turn"] for state in engine.get_state(SLOTS)] == [0] * GAMES


def test_marks_are_counted_from_the_opening_on_and_starting_anew_is_no_event() -> None:
    engine = open_swift(2, EngineOptions(marks=True))
    assert not np.any(np.asarray(engine.marks()))
    invalid = (~engine.mask()).argmax(axis=1).astype(np.int32)
    assert np.array_equal(np.asarray(engine.step_restarting(invalid).events), [1 << EVENTS.index("invalid_action")] * 2)
    assert np.any(np.asarray(engine.marks()))
    engine.close()
