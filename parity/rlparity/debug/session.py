"""Debugging session: one game on two engines, with stepping in both directions, edits and forks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from rlparity.agent import View
from rlparity.core.compare import OBSERVATION, STATE, Difference, value_text
from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.core.source_specs import open_source
from rlparity.core.sources import POLICY, Source
from rlparity.core.trace import Action, Case, Trace, check_actions, read_trace
from rlparity.debug.fields import FieldReader, action_of, parse_condition, path_text, put_in
from rlparity.debug.timeline import Fork, Timeline
from rlparity.debug.view import GameView
from rlparity.engine import Closable
from rlparity.engines.registry import load_pair, load_traced, load_world
from rlparity.errors import StateRefused, UsageError
from rlparity.io.console import counted
from rlparity.spaces import action_numbers
from rlparity.tools.finding import open_alone
from rlparity.tools.report import action_name
from rlparity.world import World

MOST_STEPS = 10_000


class Session(GameView, Closable):
    """One game on two engines of a world, usable in a ``with`` block.

    Earlier steps are shown from memory. To continue from one, the session replays the game up to it, and checks that
    the engines give the same outputs as before. An engine that failed is opened again.

    Args:
        world: a world, its name or ``module:attribute``; None: that of the trace, or the only registered one.
        engines: two names, or one; None: those of the trace, or the world's first two.
        seed: seed of the game, at most 2⁶⁴ − 1; None: 0, unless a trace or a case is given.
        trace: file of a trace or a golden episode to open at its start.
        case: a game to open at its start.
        actions: actions of the seed's game, by name or number.
        agent: file or name of an agent that chooses actions where none is given or recorded. Without an agent, actions
            are uniform over the valid ones, and a trace or a case ends with its own actions.
        prices: prices of the reward, by name, that override those of the trace or the game.
        timeout: seconds that an engine's answer may take.

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
        if sum(start is not None for start in (seed, trace, case)) > 1:
            raise UsageError("a session begins with a seed, a trace or a case: give one of them.")
        if actions and (trace is not None or case is not None):
            raise UsageError("a trace and a case have their own actions: give others only with a seed.")
        names = (engines,) if isinstance(engines, str) else engines
        if names is not None and not 1 <= len(names) <= 2:
            raise UsageError(f"{len(names)} engines are given: name one or two.")
        pair = None if names is None else (names[0], names[-1])
        if trace is not None:
            read, path = read_trace(Path(trace)), Path(trace)
            changes = {**read.prices, **(prices or {})}
            self.world, self.engines = load_traced(read, path, world, pair, changes)
            self.spec, case = world if isinstance(world, str) else self.world.name, read.case
        else:
            spec = world if isinstance(world, str) else None
            priced = load_world(world).with_prices(prices or {})
            self.world, self.spec, self.engines = load_pair(priced, pair, spec=spec, one_will_do=True)
            chosen = tuple(action_of(self.world, each) for each in actions)
            case = case or Case(chosen, seed=_checked_seed(self.world, seed or 0))
            check_actions(self.world, Trace(self.spec, self.engines, case), Path("the case"))
        agent_source = "uniform" if agent is None else f"{POLICY}{agent}"
        is_open = agent is not None or not case.actions
        self._source = open_source(agent_source, self.world, 1, np.random.default_rng(0)) if is_open else None
        self._first_seed = case.seed or 0
        self._reader = FieldReader(self.world)
        given = self.world, self.engines, Case((), seed=0, marks=case.marks), timeout
        self._timeline = Timeline(lambda: open_alone(*given, alone=self.engines[0] == self.engines[1]))
        self.forks: list[Fork] = []
        try:
            self._add(self._begun(Fork(0, case)))
        except StateRefused as error:
            raise UsageError(f"the start is refused: {error}") from error
        finally:
            if not self.forks:
                self.close()

    def close(self) -> None:
        """Close both engines."""
        self._timeline.pair.close()

    # stepping

    def step(self, action: Action | str | None = None) -> tuple[Difference, ...]:
        """Take an action, by its name or number, or ``restart``; return the differences after it.

        None: the fork's next recorded action, else the agent's. Any other action than the recorded one makes a fork.
        Raises UsageError for an action that the world does not have, or where there is none to take.
        """
        fork, recorded = self.current, self.next_action
        chosen = recorded if action is None else action_of(self.world, action)
        if chosen is None:
            if self._source is None:
                raise UsageError("the recorded actions end here: give an action.")
            if self.moment.is_over:
                raise UsageError('the game is over: give the action "restart" for the next one.')
            chosen = self._choose(self._source)
        if recorded is None:
            fork.case = replace(fork.case, actions=(*fork.case.actions, chosen))
        elif chosen != recorded:
            case = replace(self.case, actions=(*self.case.actions, chosen))
            fork = self._branch(case, f"action {action_name(self.world, chosen)}")
        if fork.moment is fork.path[-1]:
            self._timeline.extend(fork)
        if fork is not self.current:
            self._add(fork)
        fork.place += 1
        return self.diff()

    def back(self, steps: int = 1) -> None:
        """Go back some steps; from an edited start, to before the edit. Raises UsageError for more steps than taken."""
        if steps > (most := self.current.place):
            raise UsageError(f"the game began {counted(most, 'step')} ago: go back no further.")
        for _ in range(steps):
            self._back()

    def go(self, step: int) -> None:
        """Go to a step of this fork, by playing its own actions if needed. Raises UsageError for a step it lacks."""
        fork = self.current
        first = fork.path[fork.begins].step
        last = first + len(fork.case.actions)
        if not first <= step <= last:
            raise UsageError(f"fork {fork.number} has the steps {first} to {last}, and no {step}: go to one of them.")
        while fork.last < step:
            self._timeline.extend(fork)
        fork.place = fork.begins + step - first

    def run_until(self, *conditions: str, backwards: bool = False, steps: int = MOST_STEPS) -> str | None:
        """Run to the next step, or the last before, where a condition holds on either engine; return the condition.

        Returns None where the game is over, the actions end, or after ``steps``. Conditions:

        - ``MARK`` or ``RULE``: the mark, or a mark of the rule, fired in the step;
        - ``FIELD < VALUE``, with ``<``, ``<=``, ``>``, ``>=``, ``==`` or ``!=``, such as ``components.kills > 0``;
        - ``action NAME``: this action was taken;
        - ``differs`` or ``differs FIELD``: the engines differ, or differ in the field;
        - ``draw ADDRESS``: a word was drawn at an address that contains this, such as ``draw ORDER 7``.

        Raises UsageError for any other condition.
        """
        parsed = {text: parse_condition(text, self.world, self._reader, self.moment) for text in conditions}
        for _ in range(steps):
            if not (self._back() if backwards else self._forth()):
                return None
            if (held := next((text for text, holds in parsed.items() if holds(self.moment)), None)) is not None:
                return held
        return None

    def check(self) -> None:
        """Replay this fork from its start; raises EngineError where an engine's outputs are not the same as before."""
        self._timeline.replay(self.current)

    # edits and forks

    def set(self, field: str, value: object) -> None:
        """Change a field of the reference's state and set that state on both engines, in a new fork.

        The fork keeps the actions that follow. Raises UsageError where there is no such field, the value is of another
        type, or an engine refuses or changes it; the session is then unchanged.
        """
        keys = self._reader.find(self.moment.sides[0], field)
        if keys[0] != STATE or len(keys) == 1:
            raise UsageError(f"'{field}' is no field of the state, and only these can be set: give one of these.")
        state = self.state()
        put_in(state, keys[1:], value)
        path, text, here = path_text(keys), value_text(value), self.current
        following = here.case.actions[here.place - here.begins :]
        case = replace(here.case, seed=None, state=state, actions=following)
        try:
            edited = self._begun(self._branch(case, f"{path} = {text}"))
        except StateRefused as error:
            raise UsageError(f"{path} cannot be {text}: {error}") from error
        for name, side in zip(self.engines, edited.moment.sides, strict=True):
            if (taken := self._reader.value(side, keys)) != self._reader.value({STATE: [state]}, keys):
                raise UsageError(f"engine '{name}' changes {path} to {value_text(taken)}: give a value that it keeps.")
        self._add(edited)

    def fork(self) -> Fork:
        """Make a fork at this step, without the actions that follow."""
        return self._add(self._branch(self.case, "fork"))

    def switch(self, number: int) -> None:
        """Go to a fork, at its own current step. Raises UsageError where there is no fork of this number."""
        if not 0 <= number < len(self.forks):
            raise UsageError(f"there is no fork {number}: the forks are 0 to {len(self.forks) - 1}.")
        self.current = self.forks[number]

    def _choose(self, source: Source) -> Action:
        """Choose the agent's action, or a random valid one; the draw depends on the seed and the step alone."""
        observation, mask = (np.asarray(self.moment.sides[0][name]) for name in (OBSERVATION, "mask"))
        view = View(observation, mask, np.zeros(1, np.intp), lambda _: [self.moment.states[0]])
        rng = np.random.default_rng([self._first_seed, self.position])
        return action_numbers(source.actions(view, rng, 0.0, self.world.action_space)[0])

    def _forth(self) -> bool:
        if self.next_action is None and (self._source is None or self.moment.is_over):
            return False
        self.step()
        return True

    def _back(self) -> bool:
        fork = self.current
        if fork.place == 0:
            return False
        if fork.place == fork.begins:
            self.current = fork.before_edit()
            self.current.place = fork.begins
        self.current.place -= 1
        return True

    def _branch(self, case: Case, cause: str) -> Fork:
        """Make a fork that branches off the current one at this step."""
        here, path = self.current, self.current.path[: self.current.place + 1]
        return Fork(len(self.forks), case, here, self.position, cause, path, here.begins, here.place)

    def _begun(self, fork: Fork) -> Fork:
        """Play a fork's start at the end of its path, and return the fork; raises StateRefused."""
        fork.begins = fork.place = len(fork.path)
        self._timeline.begin(fork)
        return fork

    def _add(self, fork: Fork) -> Fork:
        """Add a fork to the session and make it the current one."""
        self.forks.append(fork)
        self.current = fork
        return fork


def _checked_seed(world: World, seed: int) -> int:
    """Return the seed as an int; raises UsageError for one out of the world's range."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**world.seed_bits:
        raise UsageError(f"seed {seed} is no whole number of 0 ... 2^{world.seed_bits} - 1: choose one.")
    return int(seed)
