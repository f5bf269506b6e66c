"""How many steps a second both engines make in lockstep, everything compared at every step."""

import time

from hackmatrix.bench.records import Record, median_and_spread
from hackmatrix.world import WORLD
from parity.errors import ParityError
from parity.lockstep import Settings, run

STEPS = 600
ENGINES = ("swift", "jax")


def measure(num_envs: int, repetitions: int) -> list[Record]:
    """``lockstep_steps_per_second``: uniform valid actions, 1 % invalid ones, ended games restarted in the step.

    Masks, observations, components, flags and complete states of all games are compared. ``compile_seconds`` is
    what a first run takes longer than the median one: opening the engines, tracing and compiling.

    Raises:
        ParityError: the engines differ, or one cannot be opened.
    """
    try:
        return [_measured(num_envs, repetitions)]
    except ParityError as error:
        raise ParityError(f"hackmatrix bench: {error}") from error


def _measured(num_envs: int, repetitions: int) -> Record:
    start = time.perf_counter()
    _steps_per_second(num_envs, seed=0)
    first_seconds = time.perf_counter() - start
    samples = [_steps_per_second(num_envs, seed=1 + number) for number in range(repetitions)]
    value, spread = median_and_spread(samples)
    return Record(
        name="lockstep_steps_per_second",
        value=value,
        unit="steps/s",
        num_envs=num_envs,
        spread=spread,
        compile_seconds=first_seconds - num_envs * STEPS / value,
        trace_seconds=None,
        peak_bytes=None,
    )


def _steps_per_second(num_envs: int, seed: int) -> float:
    settings = Settings("uniform", steps=STEPS, games=num_envs, seed=seed, auto_reset=True)
    outcome = run(WORLD, ENGINES, settings)
    if outcome.divergences:
        raise ParityError("hackmatrix bench: the engines differ: `parity run --auto-reset` shows where.")
    return outcome.steps / outcome.seconds
