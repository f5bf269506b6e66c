"""A debugging session: two engines play one game, which can be stopped, taken back, edited and forked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from parity.compare import STATE, Difference, value_text
from parity.debug.conditions import action_of, parse_condition
from parity.debug.fields import FieldReader, path_text, put_in
from parity.debug.forks import ForkComparison, compare_forks
from parity.debug.opening import action_chooser, checked_seed, opened
from parity.debug.saving import save_trace, write_test
from parity.debug.timeline import Fork, Timeline
from parity.debug.view import GameView
from parity.engine import Closable, State
from parity.engine_guard import DEFAULT_TIMEOUT
from parity.errors import EngineError, StateRefused, UsageError
from parity.finding import open_alone
from parity.prices import price_values, with_prices
from parity.report import action_name
from parity.trace import Action, Case, Trace
from parity.world import PriceValues, World

MOST_STEPS = 10_000


class Session(GameView, Closable):
    """Two engines of a world in one game, usable in a ``with`` block.

    Going back shows what was kept. Where play goes on from an earlier step, the engines are put into states that were
    kept shortly before, and what they then give is held to what they gave; an engine that does not come back exactly is
    replayed from the start, and one that failed is opened again.

    Args:
        world: a world, its name or ``module:attribute``; None: that of the trace, or the only registered one.
        engines: two names, or one; None: those of the trace, or the world's first two.
        seed: of the game, 0 … 2⁶⁴ − 1; None: 0, unless a trace or a case is given.
        trace: file of a trace or a golden episode to open at its start.
        case: a game to open at its start.
        actions: of the seed's game, by name or number.
        agent: file or name of an agent that chooses actions where none is given or recorded. Without one they are
            drawn uniformly among the valid ones; a trace or a case then ends with its actions.
        prices: of the reward, by name, that are not those of the trace or the game's own.
        timeout: seconds that an answer may take.

    Raises:
        UsageError: there is no such world, engine, file or agent, or an engine refuses the start.
        EngineError: an engine fails.
    """

    def __init__(
        self,
        world: World | str | None = None,
        engines: Sequence[str] | str | None = None,
        *,
        seed: int | None = None,
        trace: Path | str | None = None,
        case: Case | None = None,
        actions: Sequence[Action | str] = (),
        agent: Path | str | None = None,
        prices: Mapping[str, object] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        self.world, self.spec, self.engines, case = opened(world, engines, seed, trace, case, actions, prices or {})
        is_chosen = agent is not None or not case.actions
        self._choose = action_chooser(self.world, agent, case.seed or 0) if is_chosen else None
        self._reader = FieldReader(self.world)
        self._timeout, self._compares_marks = timeout, case.marks
        self._timelines: dict[PriceValues, Timeline] = {}
        self._forks: list[Fork] = []
        try:
            self._current = self._begin(Fork(0, case, self._timeline_at(self.world)))
        except StateRefused as error:
            raise UsageError(f"the start is refused: {error}") from error
        finally:
            if not self._forks:
                self.close()

    def close(self) -> None:
        """Close all engines."""
        for timeline in self._timelines.values():
            timeline.pair.close()

    # going on and back

    def step(self, action: Action | str | None = None) -> tuple[Difference, ...]:
        """Take an action, by its name or number, or ``restart``; returns what then differs.

        None: the action that this fork has next, else the agent's. Another action than this fork has next makes a fork.
        Raises UsageError for an action that the world does not have, or where there is none.
        """
        fork, recorded = self._current, self.next_action
        chosen = action_of(self.world, action) if action is not None else recorded
        if chosen is None:
            if self._choose is None:
                raise UsageError("the recorded actions end here: give an action.")
            if self.is_over:
                raise UsageError('the game is over: give the action "restart" for the next one.')
            chosen = self._choose(self.moment, self.position)
        if recorded is None:
            fork.case = replace(fork.case, actions=(*fork.case.actions, chosen))
        elif chosen != recorded:
            actions = (*fork.case.actions[: fork.step - fork.first], chosen)
            fork = self._branch(replace(fork.case, actions=actions), f"action {action_name(self.world, chosen)}")
        if fork.step == fork.last:
            try:
                fork.timeline.extend(fork)
            except EngineError:
                if fork is not self._current:
                    self._forks.remove(fork)
                raise
        self._current = fork
        fork.step += 1
        return self.diff()

    def back(self, steps: int = 1) -> None:
        """Go back; from an edited start, to before the edit. Raises UsageError where the game begins."""
        for _ in range(steps):
            if not self._back():
                raise UsageError("the game begins here: there is no step to go back to.")

    def go(self, step: int) -> None:
        """Go to a step of this fork, forwards by its own actions. Raises UsageError where it has no such step."""
        fork = self._current
        last = fork.first + len(fork.case.actions)
        if not fork.first <= step <= last:
            raise UsageError(
                f"fork {fork.number} has the steps {fork.first} to {last}, and no {step}: go to one of them."
            )
        while fork.last < step:
            fork.timeline.extend(fork)
        fork.step = step

    def run_until(self, *conditions: str, backwards: bool = False, steps: int = MOST_STEPS) -> str | None:
        """Go on, or back, to the next step at which a condition holds, on either engine; which one, or None.

        Without one it stops where the game is over, the actions end, or after ``steps``. Conditions:

        - ``MARK`` or ``RULE``: the mark, or one of the rule's, fired in the step;
        - ``FIELD < VALUE``, with ``<``, ``<=``, ``>``, ``>=``, ``==`` or ``!=``, such as ``components.kills > 0``;
        - ``action NAME``: this action was taken;
        - ``differs`` or ``differs FIELD``: the engines differ;
        - ``draw ADDRESS``: a word was drawn there, such as ``draw ORDER 7``; a part of an address will do.

        Raises UsageError for any other.
        """
        parsed = {text: parse_condition(text, self.world, self._reader, self.moment) for text in conditions}
        for _ in range(steps):
            if not (self._back() if backwards else self._forth()):
                return None
            if (held := next((text for text, holds in parsed.items() if holds(self.moment)), None)) is not None:
                return held
        return None

    def check(self) -> None:
        """Replay this fork from its start; raises EngineError where an engine gives anything else than before."""
        self._current.timeline.check(self._current)

    # edits and forks

    def set(self, field: str, value: object) -> None:
        """Change a field of the reference's state, which both engines take: a fork begins there.

        It keeps the actions that follow. Raises UsageError where there is no such field, the value is of another type,
        or an engine refuses or changes it; the session is then as it was.
        """
        keys = self._reader.find(self.moment.sides[0], field)
        if keys[0] != STATE or len(keys) == 1:
            raise UsageError(f"'{field}' is no field of the state, and only these can be set: give one of these.")
        state = self.state()
        put_in(state, keys[1:], value)
        path, text = path_text(keys), value_text(value)

        def check(edited: Fork) -> None:
            for name, side in zip(self.engines, edited.moments[0].sides, strict=True):
                if (taken := self._reader.value(side, keys)) != self._reader.value({STATE: [state]}, keys):
                    raise UsageError(f"engine '{name}' makes {path} {value_text(taken)}: give a value that it keeps.")

        try:
            self._begin(self._from_here(state, f"{path} = {text}"), check)
        except StateRefused as error:
            raise UsageError(f"{path} cannot be {text}: {error}") from error

    def set_price(self, name: str, value: object) -> None:
        """Change a price of the reward, in reward: a fork begins here, in the reference's state, with new engines.

        It keeps the actions that follow. Raises UsageError where the world has no such price or value.
        """
        world = with_prices(self._current.timeline.pair.world, {name: value})
        fork = self._from_here(self.state(), f"price {name} = {value}")
        fork.timeline = self._timeline_at(world)
        self._begin(fork)

    def set_seed(self, seed: int) -> None:
        """Begin the game of another seed, with the actions of this one, as a fork at step 0; raises UsageError."""
        here, number = self._current, checked_seed(self.world, seed)
        case = replace(here.case, seed=number, state=None, actions=here.actions())
        self._begin(Fork(len(self._forks), case, here.timeline, 0, self._forks[0], 0, f"seed {seed}", is_edited=True))

    def fork(self) -> Fork:
        """Begin a fork at this step, without the actions that follow."""
        here = self._current
        self._current = self._branch(here.case.prefix(here.step - here.first), "fork")
        return self._current

    def switch(self, number: int) -> None:
        """Go to a fork, to where one stood in it. Raises UsageError where there is none of this number."""
        self._current = self._fork(number)

    def compare(self, one: int, other: int, step: int | None = None) -> ForkComparison:
        """Compare two forks by number, at a step or the first at which they differ, as the reference has them."""
        forks = self._fork(one), self._fork(other)
        last = min(fork.last for fork in forks)
        if step is not None and not 0 <= step <= last:
            raise UsageError(f"forks {one} and {other} were both played to step {last}: give one up to there.")
        return compare_forks(self._current.timeline.pair, *forks, step)

    # saving

    def save(self, path: Path | str, shrink_seconds: float | None = None) -> Trace:
        """Write this fork up to this step as a trace, which ``parity replay`` plays; returns it.

        ``shrink_seconds``: make it a minimal case of its first difference in this time; raises UsageError where the
        engines do not differ. Raises UsageError where the file cannot be written.
        """
        moments = self._current.moments[: self.position - self._current.first + 1]
        timeline = self._current.timeline
        timeline.forget_place()
        return save_trace(timeline.pair, self.spec, self.case, moments, Path(path), shrink_seconds)

    def write_test(self, path: Path | str) -> None:
        """Write this fork up to this step as a test of pytest, which fails while the engines differ in it.

        It also holds the reference to the components of the last step, if the engines agree there. Raises UsageError
        where the file cannot be written, or the world has no name by which a test could import it.
        """
        earned = {} if self.diff() else self.components()
        write_test(self._current.timeline.pair.world, self.spec, self.engines, self.case, earned, Path(path))

    def _forth(self) -> bool:
        if self.next_action is None and (self._choose is None or self.is_over):
            return False
        self.step()
        return True

    def _back(self) -> bool:
        if self.position > self._current.first:
            self._current.step -= 1
        elif before := self._current.before_edit():
            self._current, self._current.step = before
        else:
            return False
        return True

    def _branch(self, case: Case, cause: str) -> Fork:
        here = self._current
        moments = here.moments[: here.step - here.first + 1]
        start = here.timeline, here.first, here, here.step
        self._forks.append(Fork(len(self._forks), case, *start, cause, step=here.step, moments=moments))
        return self._forks[-1]

    def _from_here(self, state: State, cause: str) -> Fork:
        """A fork that would begin here, in a state."""
        here, step = self._current, self.position
        case = replace(here.case, seed=None, state=state, actions=here.case.actions[step - here.first :])
        return Fork(len(self._forks), case, here.timeline, step, here, step, cause, is_edited=True, step=step)

    def _begin(self, fork: Fork, check: Callable[[Fork], None] = lambda _: None) -> Fork:
        """Play a fork's start and go there, unless it is refused."""
        fork.timeline.begin(fork)
        check(fork)
        self._forks.append(fork)
        self._current = fork
        return fork

    def _timeline_at(self, world: World) -> Timeline:
        """Engines with the prices of a world."""
        prices = price_values(world)
        if prices not in self._timelines:
            given = world, self.engines, Case((), seed=0, marks=self._compares_marks), self._timeout
            alone = len(set(self.engines)) == 1
            self._timelines[prices] = Timeline(lambda: open_alone(*given, alone=alone))
        return self._timelines[prices]

    def _fork(self, number: int) -> Fork:
        if not 0 <= number < len(self._forks):
            raise UsageError(f"there is no fork {number}: the forks are 0 to {len(self._forks) - 1}.")
        return self._forks[number]
