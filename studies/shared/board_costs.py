"""Measure the cost of a JAX engine's step on given boards."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rlworldkit.bench.env import STEPS_PER_CALL, Play, one_step
from rlworldkit.bench.records import Record
from rlworldkit.bench.timing import TimedProgram, alone, compile_program
from rlworldkit.jax.env import JaxEnv, State


class Turns(NamedTuple):
    """Two batches of games that alternate, and the last step's result.

    With a single batch, XLA could compute everything that does not depend on the action once for all steps.
    """

    now: State
    next: State
    last: Play


def measure(env: JaxEnv, boards: Iterable[tuple[str, State]], repetitions: int) -> Iterator[Record]:
    """Measure ``env_steps_per_cpu_second_BOARDS`` for each name and batch of games (leading axis: games) in ``boards``.

    Every step starts from the boards themselves, with a random valid action in every game; all else is as in
    ``bench env``. All batches have the same size, and are played by one compiled program.

    Seconds are processor time of all threads together, because other work on the machine hardly changes it. On an
    accelerator, where the processor only waits, they are wall-clock time, and the records are named
    ``env_steps_per_second_BOARDS``.
    """
    on_cpu = jax.default_backend() == "cpu"
    clock, unit = (time.process_time, "cpu_second") if on_cpu else (time.perf_counter, "second")
    program: TimedProgram[Turns] | None = None
    for name, states in boards:
        start = _start(states)
        games = len(start.last.seen)
        program = dataclasses.replace(program, carry=start) if program else compile_program(_play(env), start)
        name = f"env_steps_per_{unit}_{name}"
        yield alone(name, games, program, STEPS_PER_CALL * games, repetitions, clock)


def _start(states: State) -> Turns:
    states = jax.tree.map(jnp.asarray, states)
    others = jax.tree.map(lambda leaf: jnp.roll(leaf, 1, axis=0), states)
    games = len(jax.tree.leaves(states)[0])
    return Turns(states, others, Play(states, jax.random.key(0), jnp.zeros(games, jnp.float32)))


def _play(env: JaxEnv) -> Callable[[Turns], Turns]:
    """Make a function that plays ``STEPS_PER_CALL`` steps, each from the other batch of boards."""
    step = one_step(env)

    def turn(turns: Turns) -> Turns:
        return Turns(turns.next, turns.now, step(turns.last._replace(states=turns.now)))

    return lambda turns: jax.lax.scan(lambda each, _: (turn(each), None), turns, None, length=STEPS_PER_CALL)[0]
