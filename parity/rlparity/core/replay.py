"""Replay of one case on both engines, up to the first difference."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rlparity.core.compare import STATE, Difference
from rlparity.core.ledger import DROP, IGNORE, RESYNCHRONISE
from rlparity.core.pair import Outputs, Pair
from rlparity.core.trace import RESTART, Action, Case, batch_of
from rlparity.engine import Array, BatchEngine, Slots, State

_ONLY: Slots = np.zeros(1, dtype=np.intp)
Played = tuple[Action | None, Outputs, State, Outputs | None]
"""An action, both engines' outputs, the reference's state before (if the ledger needs it), and newly fired marks."""


@dataclass(frozen=True)
class ReplayMoment:
    """The game after the start (``action`` None) or after one action, as both engines have it.

    components: reward components of the action on each side; marks: counts of the marks that it fired on each side.
    """

    action: Action | None
    states: tuple[State, State]
    components: tuple[tuple[int | float, ...], tuple[int | float, ...]] | None
    marks: tuple[dict[str, int], dict[str, int]] | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Divergence:
    """Divergence of one game: its case up to there, and where the engines differ after it.

    recorded: the last moment as a batch had it; None for a game played alone.
    """

    case: Case
    differences: tuple[Difference, ...]
    game: int = 0
    recorded: ReplayMoment | None = None

    @property
    def step(self) -> int:
        """The number of actions after which the engines differ."""
        return len(self.case.actions)


def begin(engine: BatchEngine, case: Case) -> Array:
    """Start a case in an engine of one game; returns its observation. Raises StateRefused as ``set_state`` does."""
    if case.state is not None:
        return engine.set_state([case.state], _ONLY)
    return engine.reset(np.array([case.seed], np.uint64), _ONLY)


def start(pair: Pair, case: Case) -> Outputs:
    """Start a case on a pair of one game. Raises StateRefused where an engine does not take its state."""
    pair.newly_fired()  # discards the marks from before the start
    if case.state is not None:
        return pair.set_state([case.state], _ONLY)
    return pair.reset(np.array([case.seed], np.uint64))


def act(pair: Pair, case: Case, action: Action) -> Outputs:
    """Play an action of a case on a pair of one game."""
    if action == RESTART:
        return pair.restart(_ONLY)
    return pair.step(batch_of(pair.world, action), restarting=case.auto_reset)


def differs_at(pair: Pair, case: Case, *, only_valid: bool = False, game: int = 0) -> Divergence | None:
    """Find the first difference in a case that the ledger does not explain; returns the case up to there, or None.

    After a resynchronisation, the returned case begins in the reference's state. ``pair`` has one game. ``only_valid``:
    end before the first action that the reference's mask forbids. ``game``: its number in a run, for what is counted.
    """
    while True:
        for done, (action, seen, before, fired) in enumerate(_play(pair, case, only_valid=only_valid)):
            differences = differences_of(pair, seen, fired)
            known = pair.known(before, action, differences, game) if differences else None
            is_placed = done == 0 and case.state is not None  # resynchronising again would not change it
            if differences and (known is None or (is_placed and known == RESYNCHRONISE)):
                return Divergence(case.prefix(done), differences, game)
            if known not in (None, IGNORE):
                break
        else:
            return None
        if known == DROP:
            return None
        case = case.from_state(pair.reference.get_state(_ONLY)[0], done)


def last_differences(pair: Pair, case: Case) -> tuple[State, Action | None, tuple[Difference, ...]]:
    """Play a case; returns the state before its last action (if the ledger needs it), that action and the differences.

    ``pair`` has one game.
    """
    for action, seen, before, fired in _play(pair, case):
        last = before, action, (seen, fired)
    return last[0], last[1], differences_of(pair, *last[2])


def differences_of(pair: Pair, seen: Outputs, fired: Outputs | None) -> tuple[Difference, ...]:
    """Differences of a game played alone, with marks where they are compared; empty where the pair ignores them all."""
    both = (seen, fired if pair.compares_marks else None)
    differing = (each for each in both if each and pair.rows_that_differ(each)[0])
    differences = tuple(difference for each in differing for difference in pair.explain(each, 0, 0))
    return () if all(map(pair.ignores, differences)) else differences


def moments(pair: Pair, case: Case) -> list[ReplayMoment]:
    """Record the start and every action of a case up to the first difference. ``pair`` has one game."""
    recorded: list[ReplayMoment] = []
    for action, seen, state, fired in _play(pair, case):
        differences = differences_of(pair, seen, fired)
        if differences and pair.known(state, action, differences):
            differences = ()
        states = pair.reference.get_state(_ONLY)[0], pair.other.get_state(_ONLY)[0]
        recorded.append(ReplayMoment(action, states, components_of(seen), fired_marks(pair, fired), differences))
        if differences:
            break
    return recorded


def _play(pair: Pair, case: Case, *, only_valid: bool = False) -> Iterator[Played]:
    yield None, start(pair, case), {}, pair.newly_fired()
    for action in case.actions:
        if only_valid and isinstance(action, int) and not pair.reference.mask()[0, action]:
            return
        before = {} if action == RESTART else next(iter(pair.states_before(_ONLY)), {})
        yield action, act(pair, case, action), before, pair.newly_fired()


def batch_divergence(pair: Pair, case: Case, seen: Outputs, row: int, slot: int) -> Divergence:
    """Divergence of the game in ``slot`` of a batch, at ``row`` of ``seen``; a tape without states has an empty one."""
    place: Slots = np.array([slot])
    differences = tuple(pair.explain(seen, row, slot))
    states = {} if STATE in pair.unknown else pair.reference.get_state(place)[0], pair.other.get_state(place)[0]
    action = case.actions[-1] if case.actions else None
    return Divergence(
        case, differences, slot, ReplayMoment(action, states, components_of(seen, row), None, differences)
    )


def components_of(seen: Outputs, row: int = 0) -> tuple[tuple[int | float, ...], tuple[int | float, ...]] | None:
    """Reward components of a step on each side; None after a start."""
    if seen.step is None:
        return None
    one, other = (np.asarray(side["components"])[row].tolist() for side in (seen.expected, seen.observed))
    return tuple(one), tuple(other)


def fired_marks(pair: Pair, fired: Outputs | None) -> tuple[dict[str, int], dict[str, int]] | None:
    """Counts of the marks that fired, on each side; None where an engine counts none."""
    if fired is None:
        return None
    counts = (dict(zip(pair.world.marks, side["marks"][0], strict=True)) for side in (fired.expected, fired.observed))
    one, other = ({mark: int(count) for mark, count in side.items() if count} for side in counts)
    return one, other
