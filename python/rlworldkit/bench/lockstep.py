"""Benchmark of a world's first two engines in lockstep, with everything compared at every step."""

import time
from dataclasses import replace

from rlparity import ParityError, UsageError, World
from rlparity.core.lockstep import Settings, run
from rlparity.core.prices import changed_prices, price_flags
from rlparity.io.console import typed_command
from rlworldkit.bench.records import Record, plain_record

STEPS = 600


def measure(world: World, num_envs: int, repetitions: int) -> list[Record]:
    """Measure ``lockstep_steps_per_second``: uniform valid actions, 1 % invalid ones, auto-reset in the same step.

    Masks, observations, components, flags and complete states of all games are compared. ``compile_seconds`` is the
    extra time of a first run over the median one: opening the engines, tracing and compiling. Raises UsageError
    if the world has one engine only, and ParityError if the engines differ, or one cannot be opened.
    """
    if len(world.engines) < 2:
        raise UsageError(f"world '{world.name}' has one engine only: lockstep needs two.")
    start = time.perf_counter()
    _steps_per_second(world, num_envs, seed=0)
    first_seconds = time.perf_counter() - start
    samples = [_steps_per_second(world, num_envs, seed=1 + number) for number in range(repetitions)]
    record = plain_record("lockstep_steps_per_second", num_envs, samples)
    return [replace(record, compile_seconds=first_seconds - num_envs * STEPS / record.value)]


def _steps_per_second(world: World, num_envs: int, seed: int) -> float:
    reference, other, *_ = world.engines
    settings = Settings("uniform", steps=STEPS, games=num_envs, seed=seed, auto_reset=True)
    outcome = run(world, (reference, other), settings)
    if outcome.divergences:
        words = "--world", world.name, "--engines", f"{reference},{other}", "--auto-reset", "--seed", str(seed)
        prices = price_flags(changed_prices(world))
        shown = typed_command("rlparity", "rlparity", "run", *words, "--games", str(num_envs), *prices)
        raise ParityError(f"the engines '{reference}' and '{other}' differ: `{shown}` shows where.")
    return outcome.steps / outcome.seconds
