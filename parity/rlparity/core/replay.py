"""Playing one case on both engines, up to the first difference."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rlparity.core.compare import STATE, Difference
from rlparity.core.ledger import DROP, IGNORE, RESYNCHRONISE
from rlparity.core.pair import Observed, Pair
from rlparity.core.trace import RESTART, Action, Case, batch_of
from rlparity.engine import Array, BatchEngine, Slots, State

_ONLY: Slots = np.zeros(1, dtype=np.intp)
Played = tuple[Action | None, Observed, State, Observed | None]
"""An action, what both engines give, the reference's state before, if the ledger looks at it, and the marks."""


@dataclass(frozen=True)
class ReplayMoment:
    """The game after the start (``action`` None) or after one action, as both engines have it.

    components: what the action earned on each side; marks: which marks it fired on each side, where counted.
    """

    action: Action | None
    states: tuple[State, State]
    components: tuple[tuple[int | float, ...], tuple[int | float, ...]] | None
    marks: tuple[dict[str, int], dict[str, int]] | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Divergence:
    """A game that went apart: its actions so far, and where the engines differ after it.

    recorded: the last moment as it was in a batch.
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


def start(pair: Pair, case: Case) -> Observed:
    """Start a case on a pair of one game. Raises StateRefused where an engine does not take its state."""
    pair.newly_fired()  # those before are none of the start's
    if case.state is not None:
        return pair.set_state([case.state], _ONLY)
    return pair.reset(np.array([case.seed], np.uint64))


def act(pair: Pair, case: Case, action: Action) -> Observed:
    """Play an action of a case on a pair of one game."""
    if action == RESTART:
        return pair.restart(_ONLY)
    return pair.step(batch_of(pair.world, action), restarting=case.auto_reset)


def differs_at(pair: Pair, case: Case, *, only_valid: bool = False) -> Divergence | None:
    """The case up to where the engines first differ in what the ledger does not explain, or None.

    Where they were resynchronised it begins in the state of the reference. ``pair`` has one game. ``only_valid``: play
    no action that the reference's mask forbids, but end there.
    """
    while True:
        for done, (action, seen, before, fired) in enumerate(_play(pair, case, only_valid=only_valid)):
            differences = differences_of(pair, seen, fired)
            known = pair.known(before, action, differences) if differences else None
            is_placed = done == 0 and case.state is not None  # which resynchronising again would not change
            if differences and (known is None or (is_placed and known == RESYNCHRONISE)):
                return Divergence(case.prefix(done), differences)
            if known not in (None, IGNORE):
                break
        else:
            return None
        if known == DROP:
            return None
        case = case.from_state(pair.reference.get_state(_ONLY)[0], done)


def last_differences(pair: Pair, case: Case) -> tuple[State, Action | None, tuple[Difference, ...]]:
    """The reference's state before the last action of a case, if the ledger looks at it, the action and what differs.

    ``pair`` has one game.
    """
    for action, seen, before, fired in _play(pair, case):
        last = before, action, (seen, fired)
    return last[0], last[1], differences_of(pair, *last[2])


def differences_of(pair: Pair, seen: Observed, fired: Observed | None) -> tuple[Difference, ...]:
    """What differs in a game played alone, its marks too where they are compared; nothing where all is ignored."""
    both = (seen, fired if pair.compares_marks else None)
    differing = (each for each in both if each and pair.rows_that_differ(each)[0])
    differences = tuple(difference for each in differing for difference in pair.explain(each, 0, 0))
    return () if all(map(pair.ignores, differences)) else differences


def moments(pair: Pair, case: Case) -> list[ReplayMoment]:
    """The start and every action up to the first difference, recorded. ``pair`` has one game."""
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


def batch_divergence(pair: Pair, case: Case, seen: Observed, row: int, slot: int) -> Divergence:
    """The divergence of the game in ``slot`` of a batch, which has a row in ``seen``; an unknown state is empty."""
    place: Slots = np.array([slot])
    differences = tuple(pair.explain(seen, row, slot))
    states = {} if STATE in pair.unknown else pair.reference.get_state(place)[0], pair.other.get_state(place)[0]
    action = case.actions[-1] if case.actions else None
    return Divergence(
        case, differences, slot, ReplayMoment(action, states, components_of(seen, row), None, differences)
    )


def components_of(seen: Observed, row: int = 0) -> tuple[tuple[int | float, ...], tuple[int | float, ...]] | None:
    """What a step earned on each side; None after a start."""
    if seen.step is None:
        return None
    one, other = (np.asarray(side["components"])[row].tolist() for side in (seen.expected, seen.observed))
    return tuple(one), tuple(other)


def fired_marks(pair: Pair, fired: Observed | None) -> tuple[dict[str, int], dict[str, int]] | None:
    """How often each mark fired on each side, of those that did; None where an engine counts none."""
    if fired is None:
        return None
    counts = (dict(zip(pair.world.marks, side["marks"][0], strict=True)) for side in (fired.expected, fired.observed))
    one, other = ({mark: int(count) for mark, count in side.items() if count} for side in counts)
    return one, other
