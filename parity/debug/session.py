"""A debugging session: two engines play one game, which can be stopped, taken back, edited and forked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from parity.compare import OBSERVATION, STATE, Difference, value_text
from parity.debug.conditions import action_of, parse_condition
from parity.debug.fields import FieldReader, path_text, put_in
from parity.debug.saving import save_trace, write_test
from parity.debug.timeline import Fork, ForkComparison, Moment, Timeline, compare_forks
from parity.engine import Closable, Slots, State
from parity.engine_guard import DEFAULT_TIMEOUT
from parity.errors import StateRefused, UsageError, blamed
from parity.finding import open_alone
from parity.prices import with_prices
from parity.registry import load_pair, load_traced, load_world
from parity.report import action_name
from parity.source_specs import open_source
from parity.sources import POLICY, Source, choose_actions
from parity.spaces import action_numbers
from parity.trace import Action, Case, Trace, check_actions, read_trace
from parity.world import Board, View, World

_ONLY: Slots = np.zeros(1, dtype=np.intp)
MOST_STEPS = 10_000


class Session(Closable):
    """Two engines of a world in one game, usable in a ``with`` block.

    The engines play only what was not played yet; going back shows what was kept, and costs no step. Where play goes on
    from an earlier step, the engines are put into states that were kept shortly before, and what they then give is held
    to what they gave; an engine that does not come back exactly is replayed from the start.

    Methods that take ``engine`` give that engine's answer, by its name, or the reference's.

    Args:
        world: a world, its name or ``module:attribute``; None: that of the trace, or the only registered one.
        engines: two names, or one; None: those of the trace, or the world's first two.
        seed: of the game, 0 … 2⁶⁴ − 1; None: 0, unless a trace or a case is given.
        trace: file of a trace or a golden episode to open at its start.
        case: a game to open at its start.
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
        agent: Path | str | None = None,
        prices: Mapping[str, object] | None = None,
        timeout: float = DEFAULT_TIMEOUT,
    ) -> None:
        if sum(start is not None for start in (seed, trace, case)) > 1:
            raise UsageError("a session begins with a seed, a trace or a case: give one of them.")
        names = (engines,) if isinstance(engines, str) else engines
        if names is not None and not 1 <= len(names) <= 2:
            raise UsageError(f"{len(names)} engines are given: name one or two.")
        pair = None if names is None else (names[0], names[-1])
        spec = world if isinstance(world, str) else None
        if trace is not None:
            opened, path = read_trace(Path(trace)), Path(trace)
            changes = {**opened.prices, **(prices or {})}
            self.world, self.engines = load_traced(opened, path, world, pair, lambda it: with_prices(it, changes))
            case = opened.case
        else:
            loaded = with_prices(load_world(world), prices or {})
            self.world, _, self.engines = load_pair(loaded, pair, spec=spec, one_will_do=True)
            if not 0 <= (seed or 0) < 2**self.world.seed_bits:
                raise UsageError(f"seed {seed} is outside 0 ... 2^{self.world.seed_bits} - 1: choose one inside.")
            case = case or Case((), seed=seed or 0)
            check_actions(self.world, Trace(self.world.name, self.engines, case), Path("the case"))
        self.spec = spec or self.world.name
        self._source = self._source_of(agent, is_recorded=bool(case.actions))
        self._reader = FieldReader(self.world)
        self._pair = open_alone(self.world, self.engines, case, timeout)
        self._timeline = Timeline(self._pair)
        self._current = Fork(0, case)
        self._forks = [self._current]
        try:
            self._timeline.begin(self._current)
        except BaseException as error:
            self.close()
            if isinstance(error, StateRefused):
                raise UsageError(f"the start is refused: {error}") from error
            raise

    def close(self) -> None:
        """Close both engines."""
        self._pair.close()

    # where one stands

    @property
    def position(self) -> int:
        """The number of actions since the first start."""
        return self._current.step

    @property
    def moment(self) -> Moment:
        """All that both engines gave at this step."""
        return self._current.moment(self._current.step)

    @property
    def is_over(self) -> bool:
        """The reference's game ended with the last step."""
        return self.moment.is_over

    @property
    def next_action(self) -> Action | None:
        """The action that this fork has next; None at its end."""
        return self._current.action(self._current.step)

    def state(self, engine: str | None = None) -> State:
        """The complete state, as JSON values; a copy."""
        return deepcopy(self.moment.states[self._side(engine)])

    def observation(self, engine: str | None = None) -> dict[str, Any]:
        """The observation by the world's labels."""
        return self._family(OBSERVATION, engine)

    def mask(self, engine: str | None = None) -> dict[str, bool]:
        """Whether each action is valid, by its name."""
        return self._family("mask", engine)

    def components(self, engine: str | None = None) -> dict[str, int | float]:
        """The reward components of the last step by name, in the world's units; empty at a start."""
        return self._family("components", engine)

    def field(self, name: str, engine: str | None = None) -> Any:  # noqa: ANN401 - a JSON value
        """A field by its name, such as ``state.player.hp``, ``observation[hp]`` or ``hp``; raises UsageError."""
        sides = self.moment.sides
        return deepcopy(self._reader.value(sides[self._side(engine)], self._reader.find(sides[0], name)))

    def marks(self, engine: str | None = None) -> dict[str, int]:
        """How often each mark fired in the last step; raises UsageError where an engine counts none."""
        if self.moment.marks is None:
            raise UsageError(f"{' and '.join(self.engines)} do not both count marks: choose engines that do.")
        return dict(self.moment.marks[self._side(engine)])

    def diff(self) -> tuple[Difference, ...]:
        """What differs between the engines, as ``parity run`` compares it; the reference's values are ``expected``."""
        return self.moment.differences

    def board(self, engine: str | None = None) -> Board:
        """The state as the world draws it."""
        with blamed(f"drawing a state of world '{self.world.name}'"):
            return self.world.draw(self.state(engine))

    # going on and back

    def step(self, action: Action | str | None = None) -> tuple[Difference, ...]:
        """Take an action, by its name or number, or ``restart``; returns what then differs.

        None: the action that this fork has next, else the agent's. Another action than this fork has next makes a fork.
        Raises UsageError for an action that the world does not have, or where there is none.
        """
        fork, recorded = self._current, self.next_action
        chosen = action_of(self.world, action) if action is not None else recorded
        if chosen is None:
            chosen = self._chosen_action()
        if recorded is None:
            fork.case = replace(fork.case, actions=(*fork.case.actions, chosen))
        elif chosen != recorded:
            actions = (*fork.case.actions[: fork.step - fork.first], chosen)
            fork = self._branch(replace(fork.case, actions=actions), f"action {action_name(self.world, chosen)}")
        if fork.step == fork.last:
            self._timeline.extend(fork)
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
            self._timeline.extend(fork)
        fork.step = step

    def run_until(self, *conditions: str, backwards: bool = False, steps: int = MOST_STEPS) -> str | None:
        """Go on, or back, to the next step at which a condition holds, on either engine; which one, or None.

        Without one it stops where the game is over, the actions end, or after ``steps``. Conditions:

        - ``MARK`` or ``RULE``: the mark, or one of the rule's, fired in the step;
        - ``FIELD < VALUE``, with ``<``, ``<=``, ``>``, ``>=``, ``==`` or ``!=``, such as ``components.kills > 0``;
        - ``action NAME``: this action was taken;
        - ``differs`` or ``differs FIELD``: the engines differ.

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
        self._timeline.check(self._current)

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
        fork, path = self._current, path_text(keys)
        rest = fork.case.actions[fork.step - fork.first :]
        case = replace(fork.case, seed=None, state=state, actions=rest)
        edited = self._branch(case, f"{path} = {value_text(value)}")
        edited.first, edited.is_edited, edited.moments = fork.step, True, []
        try:
            self._timeline.begin(edited)
            for name, side in zip(self.engines, edited.moments[0].sides, strict=True):
                if (taken := self._reader.value(side, keys)) != self._reader.value({STATE: [state]}, keys):
                    raise UsageError(f"engine '{name}' makes {path} {value_text(taken)}: give a value that it keeps.")
        except BaseException as error:
            self._forks.remove(edited)
            if isinstance(error, StateRefused):
                raise UsageError(f"{path} cannot be {value_text(value)}: {error}") from error
            raise
        self._current = edited

    def fork(self) -> Fork:
        """Begin a fork at this step, without the actions that follow."""
        here = self._current
        self._current = self._branch(here.case.prefix(here.step - here.first), "fork")
        return self._current

    @property
    def current(self) -> Fork:
        """The fork in which one stands."""
        return self._current

    @property
    def forks(self) -> tuple[Fork, ...]:
        """All forks by number; ``parent`` and ``at`` make them a tree."""
        return tuple(self._forks)

    def switch(self, number: int) -> None:
        """Go to a fork, to where one stood in it. Raises UsageError where there is none of this number."""
        self._current = self._fork(number)

    def tree(self) -> str:
        """The forks as an indented list, the current one with an asterisk."""
        return "\n".join(self._branches(self._forks[0], 0))

    def compare(self, one: int, other: int, step: int | None = None) -> ForkComparison:
        """Compare two forks by number, at a step or the first at which they differ, as the reference has them."""
        forks = self._fork(one), self._fork(other)
        last = min(fork.last for fork in forks)
        if step is not None and not 0 <= step <= last:
            raise UsageError(f"forks {one} and {other} were both played to step {last}: give one up to there.")
        return compare_forks(self._pair, *forks, step)

    # saving

    @property
    def case(self) -> Case:
        """This fork up to this step, as it can be played again."""
        return self._current.case.prefix(self.position - self._current.first)

    def save(self, path: Path | str, shrink_seconds: float | None = None) -> Trace:
        """Write this fork up to this step as a trace, which ``parity replay`` plays; returns it.

        ``shrink_seconds``: make it a minimal case of its first difference in this time; raises UsageError where the
        engines do not differ. Raises UsageError where the file cannot be written.
        """
        moments = self._current.moments[: self.position - self._current.first + 1]
        self._timeline.forget_place()
        return save_trace(self._pair, self.spec, self.case, moments, Path(path), shrink_seconds)

    def write_test(self, path: Path | str) -> None:
        """Write this fork up to this step as a test of pytest, which fails while the engines differ in it.

        It also holds the reference to the components of the last step. Raises UsageError where the file cannot be
        written, or the world has no name by which a test could import it.
        """
        write_test(self.world, self.spec, self.engines, self.case, self.components(), Path(path))

    def _side(self, engine: str | None) -> int:
        if engine is not None and engine not in self.engines:
            raise UsageError(f"the session has no engine '{engine}': it has {' and '.join(self.engines)}.")
        return 0 if engine is None else self.engines.index(engine)

    def _family(self, family: str, engine: str | None) -> dict[str, Any]:
        side = self.moment.sides[self._side(engine)]
        found = self._reader.family(side, family) if family in side else {}
        return found if isinstance(found, dict) else {family: found} if found else {}

    def _source_of(self, agent: Path | str | None, *, is_recorded: bool) -> Source | None:
        spec = "uniform" if agent is None else f"{POLICY}{agent}"
        is_wanted = agent is not None or not is_recorded
        return open_source(spec, self.world, 1, np.random.default_rng(0)) if is_wanted else None

    def _chosen_action(self) -> Action:
        """The agent's action, which depends on the game's start and the step alone."""
        if self._source is None:
            raise UsageError("the recorded actions end here: give an action.")
        if self.is_over:
            raise UsageError('the game is over: give the action "restart" for the next one.')
        sides, state = self.moment.sides, self.moment.states[0]
        observation, mask = np.asarray(sides[0][OBSERVATION]), np.asarray(sides[0]["mask"])
        view = View(observation, mask, _ONLY, lambda _: [state])
        rng = np.random.default_rng([self._forks[0].case.seed or 0, self.position])
        actions = choose_actions(rng, self._source.weights(view), mask, 0.0, self.world.action_space)
        return action_numbers(actions[0])

    def _forth(self) -> bool:
        if self.next_action is None and (self._source is None or self.is_over):
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
        fork = Fork(len(self._forks), case, here.first, here, here.step, cause, step=here.step, moments=moments)
        self._forks.append(fork)
        return fork

    def _fork(self, number: int) -> Fork:
        if not 0 <= number < len(self._forks):
            raise UsageError(f"there is no fork {number}: the forks are 0 to {len(self._forks) - 1}.")
        return self._forks[number]

    def _branches(self, fork: Fork, depth: int) -> Iterator[str]:
        sign = "*" if fork is self._current else " "
        start = f"seed {fork.case.seed}" if fork.case.state is None else "a recorded state"
        cause = start if fork.parent is None else f"{fork.cause} at step {fork.at}"
        first = next((fork.first + row for row, moment in enumerate(fork.moments) if moment.differences), None)
        differs = "" if first is None else f", differs at step {first}"
        yield f"{sign} {'  ' * depth}{fork.number}: {cause}, to step {fork.last}{differs}"
        for child in self._forks:
            if child.parent is fork:
                yield from self._branches(child, depth + 1)
