"""Moments of games as the episodes of a page."""

from collections.abc import Iterable, Iterator

from hackmatrix.explain.ending import LEFT, STEP_LIMIT, Ending, ending
from hackmatrix.explain.transition import Transition
from hackmatrix.rules import ACTIONS, SIZE
from hackmatrix.watch.play import Decision, Moment
from hackmatrix.world import WORLD
from parity.viewer.page import Decision as ShownDecision
from parity.viewer.page import End, Episode, Step
from worldkit.evaluation.play import TRUNCATED

START = "start"


def episodes(moments: Iterable[Moment]) -> Iterator[Episode]:
    """The episodes of these moments in the order in which their games begin, each once it and those before are told.

    The moments of one game come in order and those of others may lie in between. A game that has not ended is told as
    far as it came.
    """
    told: dict[int, EpisodeSoFar] = {}
    for moment in moments:
        if moment.decision is None:
            told[moment.seed] = EpisodeSoFar()
        told[moment.seed].add(moment)
        while told and (first := next(iter(told.values()))).is_over:
            del told[next(iter(told))]
            yield first.episode()
    for rest in told.values():
        yield rest.episode()


class EpisodeSoFar:
    """A game that is being told; of its states only the last two are kept, for they are far larger than boards."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._before: Moment | None = None
        self._last: Moment | None = None

    def add(self, moment: Moment) -> None:
        """Tell the next moment of the game."""
        self._before, self._last = self._last, moment
        self._steps.append(_step(moment))

    @property
    def is_over(self) -> bool:
        """Whether the last moment told ends the game."""
        return self._last is not None and self._last.ending is not None

    def episode(self) -> Episode:
        """What has been told; raises ValueError where that is nothing."""
        if self._last is None:
            raise ValueError("nothing has been told of this game")
        if self._before is None or self._last.decision is None:
            return Episode(f"seed {self._last.seed}", self._last.outcome, tuple(self._steps))
        last = Transition(self._before.state, self._last.state, self._last.decision.action)
        ended = ending(last, STEP_LIMIT if self._last.ending == TRUNCATED else LEFT)
        return Episode(
            name=f"seed {self._last.seed}",
            verdict=self._last.outcome + killers_text(ended),
            steps=tuple(self._steps),
            end=end_on_board(ended),
        )


def killers_text(ended: Ending) -> str:
    """Who killed the player, as the end of a verdict; empty where nobody did."""
    origin = ", from a siphon" if ended.from_siphon else ""
    return f": {ended.cause}{origin}" if ended.attackers else ""


def end_on_board(ended: Ending) -> End:
    """An ending in its drawn cell, row 0 on top (A1 has it at the bottom)."""
    row, column = ended.place
    return End(level=f"stage {ended.stage}", cause=ended.cause, row=SIZE - 1 - row, column=column)


def _step(moment: Moment) -> Step:
    boards = (WORLD.draw(moment.state),)
    if moment.decision is None:
        return Step(START, boards)
    return Step(
        action=ACTIONS[moment.decision.action],
        boards=boards,
        components=(tuple(moment.components.tolist()),),
        decision=_shown(moment.decision),
    )


def _shown(decision: Decision) -> ShownDecision:
    named = zip(ACTIONS, decision.probabilities.tolist(), strict=True)
    return ShownDecision({name: probability for name, probability in named if probability > 0}, decision.value)
