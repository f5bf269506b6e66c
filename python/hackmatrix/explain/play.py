"""One game played independently on one or more engines, with the readings of its rewards."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hackmatrix.explain.readings import Prices, Reading, readings_of
from hackmatrix.explain.transition import StateTransition
from hackmatrix.world import WORLD, rules_of
from rlparity import State, World
from rlparity.core.trace import Action, Case
from rlworldkit.show.pages.replay import open_engines, replay


@dataclass(frozen=True)
class ExplainedStep:
    """A ``ReplayStep`` with the readings of its rewards.

    state: the first engine's state after the step; transition: the step in that engine, None for a start or restart.
    values: per engine the components in thousandths; readings: from the first engine's states and prices.
    states_agree: all engines are in the same state.
    """

    number: int
    action: Action | None
    state: State
    transition: StateTransition | None
    values: tuple[tuple[int, ...], ...]
    readings: tuple[Reading, ...]
    states_agree: bool

    @property
    def engines_agree(self) -> bool:
        """Whether all engines gave the same components and states."""
        return len(set(self.values)) <= 1 and self.states_agree

    @property
    def readings_agree(self) -> bool:
        """Whether the readings have the values of the first engine's components."""
        return not self.values or tuple(reading.value for reading in self.readings) == self.values[0]

    @property
    def sound(self) -> bool:
        """Whether engines and readings agree."""
        return self.engines_agree and self.readings_agree


def explained_steps(engines: Sequence[str], case: Case, world: World = WORLD) -> Iterator[ExplainedStep]:
    """Yield the start and every action of a case, played on each named engine; readings use the first one's prices.

    ``world``: HackMatrix, with the prices that its engines are opened with.
    Raises EngineError where an engine cannot start, StateRefused where one refuses the case's start state.
    """
    prices: Prices = rules_of(engines[0], world.price_values)["rewards"]["prices"]
    before: State = {}
    with open_engines(world, engines) as opened:
        for step in replay(opened, case):
            state = step.states[0]
            transition = StateTransition(before, state, step.action) if isinstance(step.action, int) else None
            readings = readings_of(transition, prices) if transition else ()
            agree = all(each == state for each in step.states)
            yield ExplainedStep(step.number, step.action, state, transition, step.components, readings, agree)
            before = state
