"""Frames of games as the episodes of a page."""

from collections.abc import Iterable, Iterator

from parity.viewer.page import Decision as ShownDecision
from parity.viewer.page import Episode, Step
from worldkit.watch.frames import Decision, Frame

START = "start"


def episodes(frames: Iterable[Frame]) -> Iterator[Episode]:
    """The episodes of these frames in the order in which their games begin, each once it and those before are told.

    The frames of one game come in order and those of others may lie in between. A game that has not ended is told as
    far as it came.
    """
    told: dict[int, EpisodeSoFar] = {}
    for frame in frames:
        if frame.decision is None:
            told[frame.seed] = EpisodeSoFar()
        told[frame.seed].add(frame)
        while told and (first := next(iter(told.values()))).is_over:
            del told[next(iter(told))]
            yield first.episode()
    for rest in told.values():
        yield rest.episode()


class EpisodeSoFar:
    """A game that is being told; of its states only the last two are kept, for they are far larger than boards."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._before: Frame | None = None
        self._last: Frame | None = None

    def add(self, frame: Frame) -> None:
        """Tell the next frame of the game."""
        self._before, self._last = self._last, frame
        self._steps.append(_step(frame))

    @property
    def is_over(self) -> bool:
        """Whether the last frame told ends the game."""
        return self._last is not None and self._last.ending is not None

    def episode(self) -> Episode:
        """What has been told; raises ValueError where that is nothing."""
        last = self._last
        if last is None:
            raise ValueError("nothing has been told of this game")
        end, addition = None, ""
        if self._before is not None and last.decision is not None:
            end, addition = last.view.end(self._before.state, last.state, last.decision.action, last.ending)
        return Episode(f"seed {last.seed}", last.outcome + addition, tuple(self._steps), end)


def _step(frame: Frame) -> Step:
    world = frame.view.world
    boards = (world.draw(frame.state),)
    if frame.decision is None:
        return Step(START, boards)
    return Step(
        action=world.actions[frame.decision.action],
        boards=boards,
        components=(tuple(frame.components.tolist()),),
        decision=_shown(frame.decision, world.actions),
    )


def _shown(decision: Decision, actions: tuple[str, ...]) -> ShownDecision:
    named = zip(actions, decision.probabilities.tolist(), strict=True)
    return ShownDecision({name: probability for name, probability in named if probability > 0}, decision.value)
