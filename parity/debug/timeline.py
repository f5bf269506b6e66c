"""A tree of games on two engines in which one can go back: what was seen is kept, and replayed where it is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from parity.compare import OBSERVATION, STATE, Fields
from parity.engine import Array, Slots, State
from parity.engine_guard import GuardedEngine
from parity.errors import EngineError, StateRefused
from parity.pair import Observed, Pair
from parity.replay import ReplayMoment, components_of, differences_of, fired_marks
from parity.step_phases import StepPhases, step_phases
from parity.trace import RESTART, Action, Case, batch_of

_ONLY: Slots = np.zeros(1, dtype=np.intp)
RUN_UP = 4
"""Actions that are replayed, and compared, when engines are put back into a kept state."""


@dataclass(frozen=True, eq=False)
class Moment(ReplayMoment):
    """The game after the start or an action, as ``ReplayMoment``, and all that each engine gave.

    sides: of the reference and the other engine, field -> array (1, …), and of ``state`` a list of one. look: asks both
    engines for the phases of the step.
    """

    sides: tuple[Fields, Fields]
    look: Callable[[], StepPhases]

    @cached_property
    def phases(self) -> StepPhases:
        """The phases of the step on both engines, which are asked when this is first read."""
        return self.look()

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


class Timeline:
    """Plays forks on a pair of one game each, which stands anywhere; everything that was seen once is kept.

    The engines are opened again after one has failed.
    """

    def __init__(self, open_pair: Callable[[], Pair]) -> None:
        self._open = open_pair
        self.pair = open_pair()
        self._has_failed = False
        self._place: tuple[Fork, int] | None = None
        self._counts: Sequence[Array | None] = ()

    def forget_place(self) -> None:
        """Tell that something else used the engines."""
        self._place = None

    def begin(self, fork: Fork) -> None:
        """Play a fork's start. Raises StateRefused where an engine does not take it."""
        with self._moving():
            fork.moments = [self._start(fork.case)]
        self._place = fork, fork.first

    def extend(self, fork: Fork) -> None:
        """Play the first action of a fork that is not played yet. Raises EngineError."""
        if self._place != (fork, fork.last):
            self._put(fork, fork.last, max(fork.first, fork.last - RUN_UP))
        action = fork.action(fork.last)
        assert action is not None
        with self._moving():
            fork.moments.append(self._act(fork, fork.last, action))
        self._place = fork, fork.last

    def check(self, fork: Fork) -> None:
        """Replay a fork from its start; raises EngineError where an engine gives anything else than it did."""
        self._put(fork, fork.last, fork.first)

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """The place is unknown until the engines have done something, and if one fails, they are opened again."""
        self._place = None
        if self._has_failed:
            self.pair.close()
            self.pair = self._open()
        self._has_failed = True
        try:
            yield
        except StateRefused:
            self._has_failed = False
            raise
        self._has_failed = False

    def _put(self, fork: Fork, step: int, begins: int) -> None:
        """Make the engines stand after a played step, by a replay from another one, else from the start."""
        with self._moving():
            fault = self._replay(fork, begins, step)
            # an engine that does not come back from its states exactly is replayed from the start
            if fault is not None and begins > fork.first:
                fault = self._replay(fork, fork.first, step)
        if fault is not None:
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
                seen = self._act(fork, step - 1, kept.action).sides
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

    def _act(self, fork: Fork, step: int, action: Action) -> Moment:
        """Play an action where the engines stand after a step."""
        before = fork.moment(step).states
        if action == RESTART:
            return self._moment(action, self.pair.restart(_ONLY), before)
        actions = batch_of(self.pair.world, action)
        return self._moment(action, self.pair.step(actions, restarting=fork.case.auto_reset), before)

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

    def _moment(self, action: Action | None, seen: Observed, since: tuple[State, State] = ({}, {})) -> Moment:
        is_alone = len(self.pair.both) == 1
        differences = () if is_alone else differences_of(self.pair, seen)
        before, self._counts = self._counts, self._marks()
        one = _kept(seen.expected)
        other = one if is_alone else _kept(seen.observed)
        other = one if _is_same(one, other) and one.keys() == other.keys() else other
        states = one[STATE][0], other[STATE][0]
        marks = fired_marks(self.pair, before, self._counts)

        def look() -> StepPhases:
            return step_phases(self.pair, since, action)  # an engine that failed is opened anew

        return Moment(action, states, components_of(seen), marks, differences, (one, other), look)


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
