"""A tree of games on two engines in which one can go back: what was seen is kept, and replayed where it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from parity.compare import OBSERVATION, STATE, Difference, Fields, explain
from parity.engine import Array, Slots, State
from parity.engine_guard import GuardedEngine
from parity.errors import EngineError, StateRefused
from parity.pair import Observed, Pair
from parity.replay import ReplayMoment, components_of, differences_of, fired_marks
from parity.trace import RESTART, Action, Case, batch_of

_ONLY: Slots = np.zeros(1, dtype=np.intp)
RUN_UP = 4
"""Actions that are replayed, and compared, when engines are put back into a kept state."""


@dataclass(frozen=True, eq=False)
class Moment(ReplayMoment):
    """The game after the start or an action, as ``ReplayMoment``, and all that each engine gave.

    sides: of the reference and the other engine, field -> array (1, …), and of ``state`` a list of one.
    """

    sides: tuple[Fields, Fields]

    @property
    def reward(self) -> float:
        """What the reference's step earned, of all players; 0.0 at a start."""
        return float(np.sum(np.asarray(self.sides[0].get("reward", np.zeros(1)))))

    @property
    def is_over(self) -> bool:
        """The reference's game has ended, for all players."""
        ends = (np.asarray(self.sides[0].get(name, np.zeros(1, np.bool_))) for name in ("terminated", "truncated"))
        return bool(np.logical_or(*ends).all())


@dataclass(eq=False)
class Fork:
    """One course of the game: a start, its actions and what was seen of them so far.

    number: in the order in which forks were made. case: seed or state of the start, and all actions, of which the last
    may be unplayed. timeline: plays it. first: the step of the start, counted from the root. parent, at: where it left
    another fork. cause: what it left it for. is_edited: for a start of its own. step: where one stands. moments: of
    ``first`` and the steps after it.
    """

    number: int
    case: Case
    timeline: Timeline
    first: int = 0
    parent: Fork | None = None
    at: int = 0
    cause: str = ""
    is_edited: bool = False
    step: int = 0
    moments: list[Moment] = field(default_factory=list)

    @property
    def last(self) -> int:
        """The last step that was played."""
        return self.first + len(self.moments) - 1

    def moment(self, step: int) -> Moment:
        """The moment of a played step, which may lie before an edit."""
        fork = self
        while step < fork.first and fork.parent is not None:
            fork = fork.parent
        return fork.moments[step - fork.first]

    def action(self, step: int) -> Action | None:
        """The action that follows a step; None where the fork has none."""
        done = step - self.first
        return self.case.actions[done] if done < len(self.case.actions) else None

    def actions(self) -> tuple[Action, ...]:
        """All actions since step 0, those before an edit too."""
        before = self.before_edit()
        return (*(before[0].actions()[: before[1]] if before else ()), *self.case.actions)

    def before_edit(self) -> tuple[Fork, int] | None:
        """The fork and the step from which the start was edited; None where it was not."""
        fork = self
        while not fork.is_edited and fork.parent is not None:
            fork = fork.parent
        return None if fork.parent is None else (fork.parent, fork.at)

    def rewards_after(self, step: int) -> float:
        """The sum of the reference's rewards after a step, up to the last that was played."""
        fork, last, total = self, self.last, 0.0
        while True:
            total += sum(fork.moment(each).reward for each in range(max(fork.first, step) + 1, last + 1))
            before = fork.before_edit()
            if before is None or before[1] <= step:
                return total
            fork, last = before

    def leaves(self) -> dict[Fork, int]:
        """This fork and those that it comes from, each with the last step that this one shares with it."""
        fork, shared = self, {self: self.last}
        while fork.parent is not None:
            shared[fork.parent] = min(shared[fork], fork.at)
            fork = fork.parent
        return shared


@dataclass(frozen=True)
class ForkComparison:
    """Two forks, as the reference has them.

    common: the last step before they part. step: the compared one, by default the first at which a field differs;
    None: none does as far as both were played. differences: there; the first fork's values are ``expected``.
    last: the last step of each. rewards: of each, summed after ``common``.
    """

    common: int
    step: int | None
    differences: tuple[Difference, ...]
    last: tuple[int, int]
    rewards: tuple[float, float]


class Timeline:
    """Plays forks on a pair of one game each, which stands anywhere; everything that was seen once is kept."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._place: tuple[Fork, int] | None = None
        self._counts: Sequence[Array | None] = ()

    def forget_place(self) -> None:
        """Tell that something else used the engines."""
        self._place = None

    def begin(self, fork: Fork) -> None:
        """Play a fork's start. Raises StateRefused where an engine does not take it."""
        self._place = None
        fork.moments = [self._start(fork.case)]
        self._place = fork, fork.first

    def extend(self, fork: Fork) -> None:
        """Play the first action of a fork that is not played yet. Raises EngineError."""
        self._put(fork, fork.last)
        self._place = None
        action = fork.action(fork.last)
        assert action is not None
        fork.moments.append(self._act(fork.case, action))
        self._place = fork, fork.last

    def check(self, fork: Fork) -> None:
        """Replay a fork from its start; raises EngineError where an engine gives anything else than it did."""
        self._put_by_replay(fork, fork.last)

    def _put(self, fork: Fork, step: int) -> None:
        """Make the engines stand after a played step: from a kept state, else from the start."""
        if self._place == (fork, step):
            return
        self._place = None
        begins = max(fork.first, step - RUN_UP)
        # an engine that does not come back from its states exactly is replayed from the start
        if self._replay(fork, begins, step) is not None:
            self._put_by_replay(fork, step)
        self._place = fork, step

    def _put_by_replay(self, fork: Fork, step: int) -> None:
        self._place = None
        if (fault := self._replay(fork, fork.first, step)) is not None:
            raise EngineError(
                f"engine '{fault[0]}' gives something else at step {fault[1]} when the game is replayed: look for what "
                "it remembers or draws beside the seed, the state and the actions."
            )
        self._place = fork, step

    def _replay(self, fork: Fork, begins: int, ends: int) -> tuple[str, int] | None:
        """Play from one step to another again; the engine that gives something else, and at which step, or None."""
        for step in range(begins, ends + 1):
            kept = fork.moment(step)
            if step > begins:
                assert kept.action is not None
                seen = self._act(fork.case, kept.action).sides
            elif step == fork.first:
                seen = self._start(fork.case).sides
            else:
                try:
                    seen = self._restore(kept.states)
                except StateRefused:
                    return self.pair.names[0], step
            for name, one, other in zip(self.pair.names, kept.sides, seen, strict=True):
                if not _is_same(one, other):
                    return name, step
        return None

    def _start(self, case: Case) -> Moment:
        self._counts = self._marks()  # those fired before are none of the start's
        self.pair.newly_fired()
        if case.state is not None:
            return self._moment(None, self.pair.set_state([case.state], _ONLY))
        return self._moment(None, self.pair.reset(np.array([case.seed], np.uint64)))

    def _act(self, case: Case, action: Action) -> Moment:
        if action == RESTART:
            return self._moment(action, self.pair.restart(_ONLY))
        return self._moment(action, self.pair.step(batch_of(self.pair.world, action), restarting=case.auto_reset))

    def _restore(self, states: tuple[State, State]) -> tuple[Fields, Fields]:
        """Put each engine into its own state; what it then shows."""

        def restored(engine: GuardedEngine, state: State) -> Fields:
            observation = engine.set_state([state], _ONLY)
            return {OBSERVATION: observation, "mask": engine.mask(), STATE: engine.get_state(_ONLY)}

        sides = [*map(restored, self.pair.both, states)]
        return sides[0], sides[-1]

    def _marks(self) -> list[Array | None]:
        counts = [engine.marks() for engine in self.pair.both]
        return [counts[0], counts[-1]]

    def _moment(self, action: Action | None, seen: Observed) -> Moment:
        is_alone = len(self.pair.both) == 1
        differences = () if is_alone else differences_of(self.pair, seen)
        before, self._counts = self._counts, self._marks()
        one = _kept(seen.expected)
        other = one if is_alone else _kept(seen.observed)
        other = one if _is_same(one, other) and one.keys() == other.keys() else other
        states = one[STATE][0], other[STATE][0]
        marks = fired_marks(self.pair, before, self._counts)
        return Moment(action, states, components_of(seen), marks, differences, (one, other))


def compare_forks(pair: Pair, one: Fork, other: Fork, step: int | None = None) -> ForkComparison:
    """Compare two forks of one tree at a step, or at the first at which they differ, as far as both were played."""
    shared = one.leaves(), other.leaves()
    common = max(min(shared[0][fork], shared[1][fork]) for fork in shared[0].keys() & shared[1].keys())
    last = one.last, other.last
    differences: list[Difference] = []
    found = step
    for each in range(common, min(last) + 1) if step is None else (step,):
        expected, observed = one.moment(each).sides[0], other.moment(each).sides[0]
        # the start of an edited fork has no reward
        names = [name for name in expected if name in observed]
        differences = explain(
            pair.world, {name: expected[name] for name in names}, {name: observed[name] for name in names}, 0
        )
        if differences:
            found = each
            break
    rewards = one.rewards_after(common), other.rewards_after(common)
    return ForkComparison(common, found, tuple(differences), last, rewards)


def _kept(fields: Fields) -> dict[str, Any]:
    """Copies, which an engine's next step leaves alone; states as dicts only."""
    return {
        name: values if isinstance(values, list) else np.array(values)
        for name, values in fields.items()
        if not name.startswith(f"{STATE}.")
    }


def _is_same(one: Fields, other: Fields) -> bool:
    """Whether the fields that both have are the same, bit for bit."""
    return all(_is_same_value(one[name], other[name]) for name in one if name in other)


def _is_same_value(one: Any, other: Any) -> bool:  # noqa: ANN401 - an array or a list of states
    if isinstance(one, list):
        return bool(one == other)
    one, other = np.asarray(one), np.asarray(other)
    return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())


def tree_lines(forks: Sequence[Fork], current: Fork, fork: Fork | None = None, depth: int = 0) -> Iterator[str]:
    """Forks, of which the first is the root, as an indented list."""
    fork = forks[0] if fork is None else fork
    sign = "*" if fork is current else " "
    start = f"seed {fork.case.seed}" if fork.case.state is None else "a recorded state"
    cause = start if fork.parent is None else f"{fork.cause} at step {fork.at}"
    first = next((fork.first + row for row, moment in enumerate(fork.moments) if moment.differences), None)
    differs = "" if first is None else f", differs at step {first}"
    yield f"{sign} {'  ' * depth}{fork.number}: {cause}, to step {fork.last}{differs}"
    for child in forks:
        if child.parent is fork:
            yield from tree_lines(forks, current, child, depth + 1)
