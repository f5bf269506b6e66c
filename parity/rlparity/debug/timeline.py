"""Forks of a game on two engines: recorded moments, and their replay to continue from an earlier one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from rlparity.core.compare import STATE, Fields, rows_that_differ
from rlparity.core.pair import Pair
from rlparity.core.replay import ReplayMoment, act, components_of, differences_of, fired_marks, start
from rlparity.core.step_phases import StepPhases
from rlparity.core.trace import Action, Case
from rlparity.engine import State
from rlparity.errors import EngineError, StateRefused


@dataclass(frozen=True, eq=False)
class Moment(ReplayMoment):
    """ReplayMoment, the game after the start or an action, with all outputs of each engine.

    step: actions since the first start. sides: fields of the reference and of the other engine, name -> array (1, …);
    ``state`` is a list of one dict. phases: of the step, with the drawn words; the engines compute them on demand.
    """

    step: int
    sides: tuple[Fields, Fields]
    phases: StepPhases

    @property
    def is_over(self) -> bool:
        """Whether the reference's game has ended, for all players."""
        ends = (np.asarray(self.sides[0].get(name, np.zeros(1, np.bool_))) for name in ("terminated", "truncated"))
        return bool(np.logical_or(*ends).all())


@dataclass(eq=False)
class Fork:
    """One branch of the game.

    number: in the order in which forks were made. case: its start and all of its actions, of which the last may be
    unplayed. parent, at: the fork that it branched off, and the step. cause: the edit or action that made it branch.
    path: its moments from the first start on; an edit adds a start to the path. begins: index of its own start in the
    path. place: index of the current moment.
    """

    number: int
    case: Case
    parent: Self | None = None
    at: int = 0
    cause: str = ""
    path: list[Moment] = field(default_factory=list)
    begins: int = 0
    place: int = 0

    @property
    def last(self) -> int:
        """Number of the last step that was played."""
        return self.path[-1].step

    @property
    def moment(self) -> Moment:
        """The current moment."""
        return self.path[self.place]

    def action(self, place: int) -> Action | None:
        """Return the action that follows an index of the path; None where the fork has none."""
        done = place - self.begins
        return self.case.actions[done] if done < len(self.case.actions) else None

    def before_edit(self) -> Self:
        """Return the fork that the edit at this fork's start branched off."""
        fork = self
        while fork.begins == self.begins:
            assert fork.parent is not None
            fork = fork.parent
        return fork


def tree_lines(forks: Sequence[Fork], current: Fork, fork: Fork | None = None, depth: int = 0) -> Iterator[str]:
    """Yield the tree of forks, whose first is the root, as indented lines."""
    fork = forks[0] if fork is None else fork
    start = f"seed {fork.case.seed}" if fork.case.state is None else "a recorded state"
    cause = start if fork.parent is None else f"{fork.cause} at step {fork.at}"
    first = next((moment.step for moment in fork.path[fork.begins :] if moment.differences), None)
    differs = "" if first is None else f", differs at step {first}"
    yield f"{'*' if fork is current else ' '} {'  ' * depth}{fork.number}: {cause}, to step {fork.last}{differs}"
    for child in forks:
        if child.parent is fork:
            yield from tree_lines(forks, current, child, depth + 1)


class Timeline:
    """Player of forks on a Pair of one game, whatever it played last; engines are opened again after a failure."""

    def __init__(self, open_pair: Callable[[], Pair]) -> None:
        self._open = open_pair
        self.pair = open_pair()
        self._has_failed = False
        self._now: Moment | None = None

    def begin(self, fork: Fork) -> None:
        """Play a fork's start. Raises StateRefused where an engine refuses it."""
        with self.moving():
            fork.path.append(self._play(fork, fork.at))
        self._now = fork.path[-1]

    def extend(self, fork: Fork) -> None:
        """Play the first unplayed action of a fork. Raises EngineError."""
        before = fork.path[-1]
        if self._now is not before:
            self.replay(fork)
        with self.moving():
            fork.path.append(self._play(fork, before.step + 1, fork.action(len(fork.path) - 1), before.states))
        self._now = fork.path[-1]

    @contextmanager
    def moving(self) -> Iterator[Pair]:
        """Mark the position as unknown while the engines move, and reopen them first if one failed before."""
        self._now = None
        if self._has_failed:
            self.pair.close()
            self.pair = self._open()
        self._has_failed = True
        try:
            yield self.pair
        except StateRefused:
            self._has_failed = False
            raise
        self._has_failed = False

    def replay(self, fork: Fork) -> None:
        """Play a fork again from its start to the end of its path.

        Raises EngineError where an engine's outputs are not the same as before.
        """
        since: tuple[State, State] = ({}, {})
        exact = replace(self.pair.world, tolerances={})
        with self.moving():
            for moment in fork.path[fork.begins :]:
                seen = self._play(fork, moment.step, moment.action, since).sides
                for name, one, other in zip(self.pair.names, moment.sides, seen, strict=True):
                    if rows_that_differ(exact, one, other)[0]:
                        raise EngineError(
                            f"engine '{name}' is not deterministic: step {moment.step} differs in a replay; "
                            "look for results that depend on more than the seed, the state and the actions."
                        )
                since = moment.states
        self._now = fork.path[-1]

    def _play(
        self, fork: Fork, step: int, action: Action | None = None, since: tuple[State, State] = ({}, {})
    ) -> Moment:
        """Play a fork's start, or an action from the engines' current states, which are ``since``."""
        seen = start(self.pair, fork.case) if action is None else act(self.pair, fork.case, action)
        is_alone = len(self.pair.both) == 1
        fired = self.pair.newly_fired()
        differences = () if is_alone else differences_of(self.pair, seen, fired)
        one = _kept(seen.expected)
        other = one if is_alone else _kept(seen.observed)
        states = one[STATE][0], other[STATE][0]
        marks = fired_marks(self.pair, fired)
        phases = StepPhases(lambda: self.pair, since, action)  # evaluated later: the pair may be another by then
        return Moment(action, states, components_of(seen), marks, differences, step, (one, other), phases)


def _kept(fields: Fields) -> dict[str, Any]:
    """Copy fields, so that an engine's next step cannot change them; states are kept as dicts only."""
    return {
        name: values if isinstance(values, list) else np.array(values)
        for name, values in fields.items()
        if not name.startswith(f"{STATE}.")
    }
