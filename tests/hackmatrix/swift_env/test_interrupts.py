"""Ctrl+C while the environments step: it always arrives, and what was begun is never taken for something else."""

import gc
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from hackmatrix.gym_env import HackMatrixVectorEnv
from hackmatrix.swift_env import SwiftEngineError
from hackmatrix.swift_env.memory import PIPE
from tests.terminals import default_signals

pytestmark = pytest.mark.usefixtures("transport")

GAMES, ROUNDS = 4, 10
EVERY = 14
"""Every seventh instruction of a step is interrupted, in one transport or in the other: all of them say the same."""


class Interrupted(KeyboardInterrupt):
    """Ctrl+C at an instruction of our choice."""


@contextmanager
def interrupted_at(wanted: int) -> Iterator[Callable[[], int]]:
    """Interrupt what is done inside at its instruction of this number; gives how many there have been."""
    passed = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - a trace function, as Python wants it
        nonlocal passed
        frame.f_trace_opcodes = True
        if event == "opcode":
            passed += 1
            if passed == wanted:
                raise Interrupted
        return trace

    before = sys.gettrace()
    gc.disable()  # Python itself ignores what is raised in JAX's callback of the collector
    sys.settrace(trace)
    try:
        yield lambda: passed
    finally:
        sys.settrace(before)
        gc.enable()


def new_env() -> HackMatrixVectorEnv:
    env = HackMatrixVectorEnv(GAMES)
    env.reset(seed=0)
    step(env)
    return env


def step(env: HackMatrixVectorEnv) -> None:
    env.step(env.action_masks().argmax(axis=1))


def test_an_interrupt_at_any_instruction_of_a_step_arrives_and_mixes_no_answers_up(
    swift_built: None, transport: str
) -> None:
    env = new_env()
    arrived, wanted, last = 0, EVERY // 2 * (transport == PIPE), False
    complaints: set[str] = set()
    while not last:
        wanted += EVERY
        actions = env.action_masks().argmax(axis=1)
        try:
            with interrupted_at(wanted) as passed:
                env.step(actions)
            assert passed() < wanted, f"the interrupt at instruction {wanted} was swallowed"
            last = True
        except Interrupted:
            arrived += 1
        try:
            for _ in range(3):
                step(env)
        except SwiftEngineError as error:
            complaints.add(str(error))
            env.close()
            env = new_env()
    env.close()
    assert arrived > 1000 / EVERY
    assert complaints == {"the Swift engine was left in the middle of an answer and was ended: open a new one."}


CHILD = f"""
import gc
import time
from hackmatrix.gym_env import HackMatrixVectorEnv

gc.disable()  # Python itself ignores what is raised in a callback of the collector
for seed in range({ROUNDS}):
    env = HackMatrixVectorEnv({GAMES})
    env.reset(seed=seed)
    try:
        print("stepping", flush=True)
        end = time.monotonic() + 5
        while time.monotonic() < end:
            env.step(env.action_masks().argmax(axis=1))
        print("swallowed", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


def test_every_sigint_interrupts_a_stepping_process(swift_built: None) -> None:
    rng = random.Random(0)
    with subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            if line == "stepping\n":
                time.sleep(rng.uniform(0.0, 0.01))
                os.kill(process.pid, signal.SIGINT)
            else:
                said.append(line.strip())
    assert said == ["interrupted"] * ROUNDS


@pytest.fixture(autouse=True)
def _python_s_own_handler() -> Iterator[None]:
    with default_signals():
        yield
