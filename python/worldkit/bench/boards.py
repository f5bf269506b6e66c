"""What a step costs in certain positions of a world's games, as its JAX engine plays them."""

import dataclasses
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import jax
import jax.numpy as jnp

from worldkit.bench.env import STEPS_PER_CALL, Play, one_step
from worldkit.bench.records import Record
from worldkit.bench.timing import Program, alone, compile_program
from worldkit.purejaxrl.train_env import State, TrainEnv


class Turns(NamedTuple):
    """Two batches of games that take turns, and what the last step gave.

    Were there one batch, XLA could work out once for all steps what does not depend on the action.
    """

    now: State
    next: State
    last: Play


def measure(env: TrainEnv, boards: Iterable[tuple[str, State]], repetitions: int) -> Iterator[Record]:
    """``env_steps_per_second_BOARDS`` for each name and batch of games (leading axis: games) in ``boards``.

    Every step starts from the boards themselves, with a random valid action in every game; all else is as in
    ``bench env``. All batches have the same size, and are played by one compiled program.
    """
    step = one_step(env)

    def turn(turns: Turns) -> Turns:
        return Turns(turns.next, turns.now, step(turns.last._replace(states=turns.now)))

    def play(turns: Turns) -> Turns:
        return jax.lax.scan(lambda each, _: (turn(each), None), turns, None, length=STEPS_PER_CALL)[0]

    program: Program[Turns] | None = None
    for name, states in boards:
        states = jax.tree.map(jnp.asarray, states)
        games = len(jax.tree.leaves(states)[0])
        others = jax.tree.map(lambda leaf: jnp.roll(leaf, 1, axis=0), states)
        start = Turns(states, others, Play(states, jax.random.key(0), jnp.zeros(games, jnp.float32)))
        program = dataclasses.replace(program, carry=start) if program else compile_program(play, start)
        yield alone(f"env_steps_per_second_{name}", games, program, STEPS_PER_CALL * games, repetitions)
