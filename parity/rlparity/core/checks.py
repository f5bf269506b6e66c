"""Contract checks on a single engine: faults that comparing two engines cannot show, because both may have them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import STATE, Fields, explain, rows_that_differ
from rlparity.core.guard import GuardedEngine
from rlparity.engine import Array, BatchStep, Slots
from rlparity.errors import EngineError
from rlparity.world import World

StepFunction = Callable[[NDArray[np.int32]], BatchStep]
_GOLDEN = 0x9E3779B97F4A7C15
_SLOTS = 8
_STEPS = 32
_WATCHED = 64
"""Of so many games at most observations are kept: hundreds of observations each, and other chance shows in a few."""


def high_word(bits: int) -> np.uint64:
    """A number whose lower half is 0: added to a seed of so many bits, it changes the upper half only."""
    half = bits // 2
    return np.uint64(_GOLDEN >> (64 - bits + half) << half)


def run_seeds(seed: int, games: int, bits: int = 64) -> NDArray[np.uint64]:
    """Seeds of a run's games, (games,): seed + i, and ``high_word`` more for every second, all modulo 2 to the bits.

    Seeds that begin small would hide an engine that reads the lower half of them only.
    """
    numbers = np.arange(games, dtype=np.uint64)
    return _of_width(np.uint64(seed % 2**bits) + numbers + high_word(bits) * (numbers % np.uint64(2)), bits)


def _of_width(seeds: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    return seeds & np.uint64(2**bits - 1)


def check_engine(
    world: World, engine: GuardedEngine, seed: int, *, restarting: bool, seeds: bool, repeats: bool
) -> None:
    """Raises EngineError where states are not complete or, with ``seeds``, games do not follow from their seeds.

    ``repeats``: look only whether games of the same seeds repeat themselves; where engines differ, that is the first
    thing to fix. The engine's games are others afterwards. ``restarting``: step with the engine's own auto-reset, as
    the run did, so that an engine which compiles its steps need not compile another one.
    """
    step = engine.step_restarting if restarting else engine.step
    if not repeats:
        _check_states(world, engine, step)
    if seeds and (repeats or world.draws):
        (_check_repeats if repeats else _check_seeds)(world, engine, seed, step)


def _check_repeats(world: World, engine: GuardedEngine, seed: int, step: StepFunction) -> None:
    """The same seeds and actions play the same games a second time."""
    first = run_seeds(seed, engine.games, world.seed_bits)
    shown: list[list[Array]] = []
    with suppress(EngineError):  # which the run did not meet
        shown += [_shown(world, engine, first, step) for _ in range(2)]
    for number, (one, other) in enumerate(zip(*shown, strict=True)):
        if one.tobytes() != other.tobytes():
            when = "reset" if number == 0 else f"step {(number + 1) // 2}"
            raise EngineError(
                f"engine '{engine.name}' plays different games from the same seed: after {when} it shows something "
                "else the second time; its reset must derive everything that it draws from the seed it is given."
            )


def _check_states(world: World, engine: GuardedEngine, step: StepFunction) -> None:
    """A game that goes on from its state, after the slot has held another one, is as if nothing had happened."""
    slots: Slots = np.arange(min(_SLOTS, engine.games))
    states, actions = engine.get_state(slots), _first_valid(world, engine)
    untouched = _fields(engine, step(actions), slots)
    engine.reset(_of_width(engine.seeds()[slots] + np.uint64(1), world.seed_bits), slots)
    engine.set_state(states, slots)
    _demand_same(world, engine, {STATE: states}, {STATE: engine.get_state(slots)}, "set_state(get_state())")
    again = _first_valid(world, engine)  # the other games have gone on
    again[slots] = actions[slots]
    touched = _fields(engine, step(again), slots)
    _demand_same(world, engine, untouched, touched, "set_state(get_state()) and a step")


def _fields(engine: GuardedEngine, step: BatchStep, slots: Slots) -> Fields:
    fields = {name: getattr(step, name)[slots].copy() for name in ("observation", "components", "terminated")}
    situation = {"mask": engine.mask()[slots].copy(), "seed": engine.seeds()[slots].copy()}
    return {**fields, **situation, STATE: engine.get_state(slots)}


def _demand_same(world: World, engine: GuardedEngine, expected: Fields, observed: Fields, what: str) -> None:
    for row in np.flatnonzero(rows_that_differ(world, expected, observed)):
        first = explain(world, expected, observed, int(row))[0]
        raise EngineError(
            f"engine '{engine.name}' does not round-trip its state: after {what} {first.field} is {first.observed!r} "
            f"instead of {first.expected!r}; its states must hold all that a game goes on from."
        )


def _check_seeds(world: World, engine: GuardedEngine, seed: int, step: StepFunction) -> None:
    """Other seeds, in their lower bits or in their upper ones alone, play other games."""
    bits = world.seed_bits
    seeds = _of_width(np.uint64(seed) + np.arange(engine.games, dtype=np.uint64), bits)
    for other, remedy in (
        (seeds + np.uint64(engine.games), "its reset must start from the seed it is given"),
        (seeds + high_word(bits), f"its draws must depend on all {bits} bits of a seed"),
    ):
        other = _of_width(other, bits)
        shown = zip(_shown(world, engine, seeds, step), _shown(world, engine, other, step), strict=True)
        if all(np.array_equal(one, another) for one, another in shown):
            raise EngineError(
                f"engine '{engine.name}' plays the same game from the seeds {seeds[0]} and {other[0]}: {remedy} "
                "(a world that draws nothing says draws=False)."
            )


def _shown(world: World, engine: GuardedEngine, seeds: NDArray[np.uint64], step: StepFunction) -> list[Array]:
    """Observations and masks of the first new games from these seeds, in some steps, each up to its end."""
    everyone: Slots = np.arange(engine.games)
    seen = [engine.reset(seeds, everyone)[:_WATCHED].copy()]
    given = engine.seeds()
    if not np.array_equal(given, seeds):
        slot = int(np.flatnonzero(given != seeds)[0])
        raise EngineError(f"engine '{engine.name}' says that a game reset from seed {seeds[slot]} has {given[slot]}.")
    playing = everyone < _WATCHED
    for _ in range(_STEPS):
        seen.append(engine.mask()[playing])
        stepped = step(_first_valid(world, engine))
        playing &= ~stepped.ended
        seen.append(stepped.observation[playing])
    return seen


def _first_valid(world: World, engine: GuardedEngine) -> NDArray[Any]:
    if world.action_space is not None:
        return world.action_space.sample(np.random.default_rng(0), engine.games)
    return engine.mask().argmax(axis=1).astype(np.int32)
