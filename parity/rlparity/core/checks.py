"""Contract checks on a single engine: faults that comparing two engines cannot show, because both may have them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import STATE, Fields, explain, rows_that_differ
from rlparity.core.guard import GuardedEngine
from rlparity.core.pair import step_fields
from rlparity.core.sources import choose_actions
from rlparity.engine import Array, BatchStep, Slots, State
from rlparity.errors import EngineError
from rlparity.world import World

StepFunction = Callable[[NDArray[np.int32]], BatchStep]
Chooser = Callable[[GuardedEngine], NDArray[Any]]
"""Function that chooses a valid action in every game."""
_GOLDEN = 0x9E3779B97F4A7C15
_SLOTS = 8
_FIRST, _STEPS = 2, 32
_MOMENTS = 0, 1, 5, 17
"""Step counts at which states are saved, for games to continue from a second time."""
_WATCHED = 64
"""Maximum games whose outputs are kept, which saves memory: a different random stream shows in a few games."""


def high_word(bits: int) -> np.uint64:
    """Constant whose lower half is 0: adding it to a seed of ``bits`` bits changes only the upper half."""
    half = bits // 2
    return np.uint64(_GOLDEN >> (64 - bits + half) << half)


def run_seeds(seed: int, games: int, bits: int = 64) -> NDArray[np.uint64]:
    """Seeds of a run's games, (games,): seed + i, plus ``high_word`` for odd i, modulo 2**bits.

    Small seeds alone would hide an engine that reads only the lower half of a seed.
    """
    numbers = np.arange(games, dtype=np.uint64)
    return _of_width(np.uint64(seed % 2**bits) + numbers + high_word(bits) * (numbers % np.uint64(2)), bits)


def _of_width(seeds: NDArray[np.uint64], bits: int) -> NDArray[np.uint64]:
    return seeds & np.uint64(2**bits - 1)


def check_engine(engine: GuardedEngine, seed: int, *, restarting: bool, seeds: bool, repeats: bool) -> dict[str, bool]:
    """Check an engine's contract; returns whether games ignore their ``seeds`` and ``actions``, where that was tested.

    Raises EngineError where states are incomplete or, with ``seeds``, where games do not follow from their seeds.

    ``repeats``: check only that the same seeds play the same games again, the first thing to fix where engines differ.
    All checks replace the engine's games. ``restarting``: step with the engine's own auto-reset, as the run did, so
    that an engine which compiles its steps need not compile another variant.
    """
    world, ignored = engine.world, dict[str, bool]()
    step = engine.step_restarting if restarting else engine.step
    if repeats and seeds:
        _check_repeats(engine, seed, step)
    for turn in () if repeats else range(1 if engine.games >= len(_MOMENTS) else len(_MOMENTS)):
        if turn:  # games of the last turn may have ended, which states need not record
            engine.reset(_of_width(engine.seeds() + np.uint64(1), world.seed_bits), np.arange(engine.games))
        _check_states(engine, step, turn)
    if seeds and not repeats:
        if world.draws is not False:
            ignored["seeds"] = _check_seeds(engine, seed, step)
        if world.action_space or len(world.actions) > 1:
            ignored["actions"] = _ignores_actions(engine, seed, step)
    return ignored


def _check_repeats(engine: GuardedEngine, seed: int, step: StepFunction) -> None:
    """Check that the same seeds and actions play the same games twice; raises EngineError where they do not."""
    first = run_seeds(seed, engine.games, engine.world.seed_bits)
    shown: list[list[Array]] = []
    with suppress(EngineError):  # ignores failures that the run itself did not meet
        shown += [_shown(engine, first, step, _STEPS) for _ in range(2)]
    for number, (one, other) in enumerate(zip(*shown, strict=True)):
        if one.tobytes() != other.tobytes():
            when = "reset" if number == 0 else f"step {(number + 2) // 3}"
            raise EngineError(
                f"engine '{engine.name}' plays different games from the same seed: after {when} it shows something "
                "else the second time; its reset must derive everything that it draws from the seed it is given."
            )


def _check_states(engine: GuardedEngine, step: StepFunction, turn: int) -> None:
    """Check that games continue unchanged from their saved states after their slots held other games.

    Each of the first games continues to its end from its state at one of ``_MOMENTS``, another one at each ``turn``.
    """
    slots: Slots = np.arange(min(_SLOTS, engine.games))
    choose, playing = _drawn(engine.world), np.ones(len(slots), np.bool_)
    states, last, taken, recorded = dict[int, list[State]](), dict[int, State](), list[NDArray[Any]](), list[Fields]()
    starts, ends = np.zeros(len(slots), np.intp), np.full(len(slots), _STEPS)
    while playing.any() and len(taken) < _STEPS:
        if (time := len(taken)) in _MOMENTS:
            states[time] = engine.get_state(slots)
            starts = np.where(playing & ((slots + turn) % len(_MOMENTS) >= len(states) - 1), time, starts)
        taken.append(choose(engine))
        stepped = step(taken[-1])
        recorded.append(_fields(engine, stepped, slots))
        over = np.flatnonzero(playing & (stepped.ended[slots] | (len(taken) == _STEPS)))
        ends[over] = time + 1
        playing[over] = False
        last |= zip(over.tolist(), engine.get_state(over) if over.size else (), strict=True)
    engine.reset(_of_width(engine.seeds()[slots] + np.uint64(1), engine.world.seed_bits), slots)
    given = [states[int(start)][slot] for slot, start in enumerate(starts)]
    shown: Fields = {"observation": engine.set_state(given, slots), "mask": engine.mask()[slots]}
    _demand_same(engine, {STATE: given}, {STATE: engine.get_state(slots)}, "set_state(get_state())")
    played = {name: np.stack([np.asarray(fields[name]) for fields in recorded]) for name in recorded[0]}
    if (later := np.flatnonzero(starts)).size:  # at the first moment, nothing was recorded yet
        seen = {name: played[name][starts[later] - 1, later] for name in shown}
        own = {name: np.asarray(values)[later] for name, values in shown.items()}
        _demand_same(engine, seen, own, "set_state(get_state())")
    for number in range(max(ends - starts)):
        actions, going = choose(engine), np.flatnonzero(starts + number < ends)  # the other games are over
        times = (starts + number)[going]
        for slot, time in zip(going, times, strict=True):
            actions[slot] = taken[time][slot]
        after = f"set_state(get_state()) and {'a step' if number == 0 else f'{number + 1} steps'}"
        own = {name: np.asarray(values)[going] for name, values in _fields(engine, step(actions), slots).items()}
        _demand_same(engine, {name: values[times, going] for name, values in played.items()}, own, after)
        if (over := going[times + 1 == ends[going]]).size:
            _demand_same(engine, {STATE: [last[slot] for slot in over]}, {STATE: engine.get_state(over)}, after)


def _fields(engine: GuardedEngine, step: BatchStep, slots: Slots) -> Fields:
    fields: dict[str, Any] = {name: values[slots] for name, values in step_fields(engine.world, step).items()}
    return {**fields, "mask": engine.mask()[slots], "seed": engine.seeds()[slots]}


def _demand_same(engine: GuardedEngine, expected: Fields, observed: Fields, what: str) -> None:
    for row in np.flatnonzero(rows_that_differ(engine.world, expected, observed)):
        first = explain(engine.world, expected, observed, int(row))[0]
        raise EngineError(
            f"engine '{engine.name}' does not round-trip its state: after {what} {first.field} is {first.observed!r} "
            f"instead of {first.expected!r}; its states must hold all that a game goes on from."
        )


def _check_seeds(engine: GuardedEngine, seed: int, step: StepFunction) -> bool:
    """Tell whether seeds that differ only in lower or only in upper bits play the same games; may raise EngineError."""
    bits = engine.world.seed_bits
    seeds = _of_width(np.uint64(seed) + np.arange(engine.games, dtype=np.uint64), bits)
    for other, remedy in (
        (seeds + np.uint64(engine.games), "its reset must start from the seed it is given"),
        (seeds + high_word(bits), f"its draws must depend on all {bits} bits of a seed"),
    ):
        other = _of_width(other, bits)
        for steps in (0, _STEPS):  # most games differ at their start already
            shown = [_shown(engine, each, step, steps) for each in (seeds, other)]
            if not all(map(np.array_equal, *shown)):
                one, another = ({game.tobytes() for game in each[0]} for each in shown)
                if engine.games >= _SLOTS and len(one) == len(another) == 1 and one != another:
                    fault = "begins in every slot the game of one seed: its reset must use them all"
                    raise EngineError(f"engine '{engine.name}' {fault}.")
                break
        else:
            if engine.world.draws is None:
                return True
            raise EngineError(
                f"engine '{engine.name}' plays the same game from the seeds {seeds[0]} and {other[0]}: {remedy} "
                "(a world that draws nothing says draws=False)."
            )
    return False


def _ignores_actions(engine: GuardedEngine, seed: int, step: StepFunction) -> bool:
    """Tell whether games show the same outputs under different actions."""
    world = engine.world
    seeds = run_seeds(seed, engine.games, world.seed_bits)
    for steps in (_FIRST, _STEPS):
        one, other = (_shown(engine, seeds, step, steps, _drawn(world, drawn)) for drawn in (1, 2))
        if not all(map(np.array_equal, one, other)):
            return False
    return True


def _shown(
    engine: GuardedEngine, seeds: NDArray[np.uint64], step: StepFunction, steps: int, choose: Chooser | None = None
) -> list[Array]:
    """Outputs of the first games that start from these seeds, over some steps, each game up to its end."""
    everyone: Slots = np.arange(engine.games)
    seen = [engine.reset(seeds, everyone)[:_WATCHED].copy()]
    given = engine.seeds()
    if not np.array_equal(given, seeds):
        slot = int(np.flatnonzero(given != seeds)[0])
        raise EngineError(f"engine '{engine.name}' says that a game reset from seed {seeds[slot]} has {given[slot]}.")
    playing, choose = everyone < _WATCHED, choose or _drawn(engine.world)
    for _ in range(steps):
        seen.append(engine.mask()[playing])
        stepped = step(choose(engine))
        seen.append(stepped.reward[playing].copy())
        playing &= ~stepped.ended
        seen.append(stepped.observation[playing])
    return seen


def _drawn(world: World, seed: int = 0) -> Chooser:
    rng, space = np.random.default_rng(seed), world.action_space
    return lambda engine: choose_actions(rng, np.ones((engine.games, len(world.actions))), engine.mask(), 0, space)
