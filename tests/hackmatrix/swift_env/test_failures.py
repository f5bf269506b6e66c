"""Failures of the engine: each is one clear error, and nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from hackmatrix.swift_env import SwiftEngine, SwiftEngineError
from hackmatrix.swift_env.memory import MEMORY, PIPE
from hackmatrix.swift_env.process import SwiftProcess
from hackmatrix.world import WORLD
from rlparity import EngineOptions
from rlworldkit.envs.episodes import Episodes
from tests.hackmatrix.swift_env.test_bridge import ends

GAMES = 3
STEP_PENALTY = WORLD.prices[0].default
FAILURES = {
    "hang": r"did not answer within 0.2 s and was ended; it said: something broke",
    "die": "ended with status 7; it said: something broke",
    "garbage": "answered with a frame of 1819043144 bytes, which is none of the protocol's; it said: something broke",
    "wrong rows": r"answered against the protocol \((no 18907 bytes of rows in the shared memory, but .*|"
    r"3 rows in observation mode 1 in 20 bytes)\); it said",
    "half": "ended with status 7; it said: something broke",
}


def play(episodes: Episodes, steps: int) -> list[Any]:
    """First valid actions; games that end are started anew."""
    taken = []
    for _ in range(steps):
        episodes.begin_step(episodes.mask.argmax(axis=1))
        taken.append(episodes.finish_step())
        ended = np.flatnonzero(taken[-1].terminated | taken[-1].truncated)
        if len(ended):
            episodes.start(ended)
    return taken


def test_an_answer_may_take_ten_seconds_and_ctrl_c_in_the_terminal_is_the_clients_to_handle(swift_built: None) -> None:
    with SwiftEngine(1) as engine:
        assert engine._process._deadline == 10
        assert os.getpgid(engine._process._process.pid) != os.getpgid(0)


def test_the_rest_of_a_long_frame_is_waited_for(swift_built: None) -> None:
    with SwiftEngine(4096, EngineOptions(deadline=5)) as engine:
        assert len(engine.step(np.zeros(4096, np.int32)).reward) == 4096


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize(
    ("how", "transport"),
    # frames are read in one way; what they carry, in two
    [*((how, MEMORY) for how in FAILURES), ("wrong rows", PIPE), ("half", PIPE)],
    indirect=["transport"],
)
def test_a_failure_is_one_sentence_and_the_process_is_gone(unreliable: Callable[[str], None], how: str) -> None:
    unreliable(how)
    episodes = Episodes(WORLD, GAMES)
    client = episodes._engine._process  # type: ignore[attr-defined]
    process, began = client._process, time.monotonic()
    if how == "hang":
        client._deadline = 0.2  # from now on: starting may take longer
    with pytest.raises(SwiftEngineError, match=FAILURES[how]) as caught:
        play(episodes, 3)
    assert str(caught.value).endswith(("open a new one, and if it happens again build it with ./swift-build.",))
    assert time.monotonic() - began < 10
    assert process.poll() is not None
    with pytest.raises(SwiftEngineError, match=r"the Swift engine .*: open a new one"):
        play(episodes, 1)
    episodes.close()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, r"^HACKMATRIX_BINARY names .*HackMatrix, which is no program.*\./swift-build"),
        ("what no system can run\n", "cannot be run"),
        ("#!/bin/sh\necho 'I have no heart' >&2\nexit 3\n", "ended with status 3; it said: I have no heart"),
    ],
    ids=["missing", "unrunnable", "ending"],
)
def test_a_start_that_fails_is_one_sentence_and_leaves_no_file_open(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str | None, said: str
) -> None:
    binary = tmp_path / "HackMatrix"
    if program:
        binary.write_text(program)
        binary.chmod(0o755)
    monkeypatch.setenv("HACKMATRIX_BINARY", str(binary))
    before = sorted(os.listdir("/dev/fd"))
    with pytest.raises(SwiftEngineError, match=said) as caught:
        SwiftEngine(GAMES)
    assert caught.tb  # which keeps the frames, and what is in them
    assert sorted(os.listdir("/dev/fd")) == before


def test_only_games_that_were_not_started_since_are_lost(swift_built: None) -> None:
    episodes = Episodes(WORLD, GAMES, restart=True)
    play(episodes, 4)
    process = episodes._engine._process._process  # type: ignore[attr-defined]
    process.kill()
    process.wait()
    episodes.start(np.array([1]), np.array([77], np.uint64))
    (step,) = play(episodes, 1)
    assert step.lost.tolist() == [True, False, True]
    assert step.components[:, 0].tolist() == [0, STEP_PENALTY, 0]
    assert episodes.statistics.steps[1] == 1
    (step,) = play(episodes, 1)
    assert step.failure is None
    assert (step.components[:, 0] == STEP_PENALTY).all()
    episodes.close()


def test_half_a_frame_is_never_taken_for_a_whole_one(swift_built: None) -> None:
    """Ctrl+C while an answer comes in."""

    class Interrupting(SwiftProcess):
        def _wait_for(self, pipe: Any, limit: float) -> None:  # noqa: ANN401 - a poll object
            raise KeyboardInterrupt

    process = Interrupting()
    process.send(b"\0\0\0\0HKMX\2\0\0\0")
    with pytest.raises(KeyboardInterrupt):
        process.receive()
    with pytest.raises(SwiftEngineError, match="was left in the middle of an answer and was ended: open a new one"):
        process.send(b"")


@pytest.mark.usefixtures("transport")
def test_answers_that_nobody_came_for_are_passed_over(swift_built: None) -> None:
    """Ctrl+C between the halves of a step."""
    with SwiftEngine(GAMES) as engine:
        engine.begin_step(np.full(GAMES, 99, np.int32), restarting=False)
        assert len(engine.get_state(np.arange(GAMES))) == GAMES
        engine.begin_step(np.zeros(GAMES, np.int32), restarting=False)
        assert len(engine.step(engine.mask().argmax(axis=1).astype(np.int32)).reward) == GAMES


FORK = """
import os, sys, time, numpy as np
from hackmatrix.swift_env import SwiftEngine, SwiftEngineError
engine = SwiftEngine(2)
if not os.fork():
    try:
        engine.rules()
    except SwiftEngineError as error:
        print(error, flush=True)
    del engine
    SwiftEngine(2).close()
    sys.exit(0)
assert os.wait()[1] == 0
print(len(engine.get_state(np.arange(2))), flush=True)
child = os.fork()
if not child:
    os.close(1); time.sleep(30); os._exit(0)
print(child, engine._process._process.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_a_fork_does_not_touch_its_parents_engine_and_does_not_keep_it(swift_built: None) -> None:
    done = subprocess.run([sys.executable, "-c", FORK], stdout=subprocess.PIPE, text=True, check=False, timeout=60)
    error, games, ids = done.stdout.splitlines()
    child, engine = map(int, ids.split())
    try:
        assert ends(engine)
        assert psutil.pid_exists(child)
    finally:
        os.kill(child, signal.SIGKILL)
    assert "of which this one" in error
    assert error.endswith("is a fork: open a new one.")
    assert games == "2"
