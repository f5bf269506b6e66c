"""A lockstep run in progress: many games on two engines at once, everything compared at every step."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import takewhile

import numpy as np

from rlparity.agent import View
from rlparity.core.checks import run_seeds
from rlparity.core.ledger import DROP, IGNORE, RESYNCHRONISE
from rlparity.core.pair import Outputs, Pair
from rlparity.core.replay import Divergence, batch_divergence, differs_at
from rlparity.core.settings import RESYNCHRONISED, STRICT, Outcome, Settings
from rlparity.core.source_specs import open_source
from rlparity.core.trace import RESTART, STEPPING, Action, History, RecordedRun
from rlparity.engine import Array, Slots, State
from rlparity.errors import EngineError, StateRefused

DICT_CHECK_EVERY = 16


class LockstepRun:
    """Lockstep run in progress; raises UsageError where the settings name an unknown source.

    taken: steps so far. numbers: the number of each slot's game in the run. before: the reference's states before
    this step, where the ledger has conditions on them. apart, ignored: slots whose differences in this step the
    ledger explains, to be resynchronised and to be left as they are.
    """

    def __init__(self, pair: Pair, settings: Settings) -> None:
        self.pair = pair
        self.settings = settings
        self._injects_steps = settings.mode == RESYNCHRONISED
        self.rng = np.random.default_rng(settings.seed)
        self.source = open_source(settings.source, pair.world, pair.games, self.rng)
        self.outcome = Outcome()
        self.taken = 0
        self.ends_at = time.monotonic() + settings.budget_seconds
        self.history = History(pair.games, marks=settings.marks, auto_reset=settings.auto_reset)
        self.active = np.ones(pair.games, dtype=np.bool_)
        self.begun = 0
        self.numbers = np.arange(pair.games)
        self.observation: Array = np.zeros(0)
        self.given_up: Slots = np.zeros(0, np.intp)
        self.before: list[State] = []
        self.apart: set[int] = set()
        self.ignored: set[int] = set()

    def play(self, progress: Callable[[], object]) -> None:
        """Play the whole run."""
        self._new_games(self.pair.all)
        self._replace_diverged()
        while self.taken < self.settings.steps and self._goes_on():
            self.advance()
            self._replace_diverged()
            if self.taken % DICT_CHECK_EVERY == 0:
                self.check_dicts(np.array([self.taken // DICT_CHECK_EVERY % self.pair.games]))
            self.taken += 1
            progress()

    def advance(self) -> None:
        """Play one action in every game, and begin the next game wherever one ended."""
        if self._injects_steps and self.taken:
            self._inject(self.pair.all)
        mask = self.pair.reference.mask()
        view = View(self.observation, mask, self.pair.all, self.pair.reference.get_state)
        how = self.rng, self.settings.invalid, self.pair.world.action_space
        if (ended := self._step(self.source.actions(view, *how))).size:
            self._next_games(ended)
        if self.given_up.size:
            self._made_starts(self.given_up)

    def play_tape(self, tape: RecordedRun, progress: Callable[[], object]) -> None:
        """Play the run of a tape, which is the reference; the other engine gets the same calls."""
        for call in takewhile(lambda _: self._goes_on(), tape.play()):
            if call.name in STEPPING:
                ended = self._step(call.given[0])
                self.outcome.episodes += len(ended)
                if self.settings.auto_reset:
                    self._note_seeds(ended)
                self.taken += 1
                progress()
            elif call.name == "set_state":
                self._place(dict(zip(call.given[1].tolist(), call.given[0], strict=True)), "recorded start")
            elif self.settings.mode != STRICT:  # an injected state follows
                getattr(self.pair.reference, call.name)(*call.given)
            elif call.name == "reset":
                seen = self.pair.reset(*call.given)
                self._note_seeds(call.given[1])
                self._take(seen, call.given[1])
            else:
                self._take(self.pair.restart(*call.given), call.given[0], RESTART)
                self._note_seeds(call.given[0])

    def _step(self, actions: Array) -> Slots:
        """Play one action in every game; returns the slots of ended games that new games are to follow."""
        self.ignored.clear()
        self.before = self.pair.states_before(self.pair.all)
        seen = self.pair.step(actions, restarting=self.settings.auto_reset)
        assert seen.step is not None
        self.history.add(actions)
        self.outcome.steps += int(self.active.sum())
        self.check(seen, self.pair.all)
        self.observation = seen.observation
        self.given_up = self.source.watch(seen)
        ended = np.flatnonzero(seen.step.ended & (self.active | self._injects_steps))
        self._resynchronise()
        return ended

    def check(self, seen: Outputs, slots: Slots, *then: Action) -> None:
        """Deactivate the games that differ, and record the case of each as a divergence."""
        differ = self.pair.rows_that_differ(seen) & self.active[slots]
        explained = False
        for row in np.flatnonzero(differ):
            slot = int(slots[row])
            if self.pair.ledger is not None and self._is_known(seen, int(row), slot, *then):
                explained = True
                continue
            self.active[slot] = False
            if len(self.outcome.divergences) >= self.settings.stop_after:
                continue
            case = self.history.case(slot, *then)
            self.outcome.divergences.append(batch_divergence(self.pair, case, seen, int(row), slot))
        fired = self.pair.newly_fired() if self.pair.compares_marks else None
        # Marks are counted for all games together: once one game differs, they tell nothing about the others.
        if explained or self.outcome.divergences:
            return
        if fired is not None and self.pair.rows_that_differ(fired)[0]:
            self._find_marks_apart(fired, slots, *then)

    def _is_known(self, seen: Outputs, row: int, slot: int, *then: Action) -> bool:
        """Tell whether the ledger explains a game's differences, and drop, ignore or resynchronise the game."""
        if slot in self.ignored:
            return True
        action = then[0] if then else self.history.last(slot)
        before = self.before[slot] if self.before and action not in (None, RESTART) else {}
        known = self.pair.known(before, action, self.pair.explain(seen, row, slot), int(self.numbers[slot]))
        if known is None or (known == RESYNCHRONISE and action is None and self.history.is_placed(slot)):
            return False  # a second resynchronisation cannot remove a difference in an injected state
        if known == DROP:
            self.active[slot] = False
        else:
            (self.ignored if known == IGNORE else self.apart).add(slot)
        return True

    def _resynchronise(self) -> None:
        """Put both engines into the reference's state where the ledger says so."""
        if self.apart:
            self._inject(np.array(sorted(self.apart), dtype=np.intp))

    def _find_marks_apart(self, fired: Outputs, slots: Slots, *then: Action) -> None:
        """Find the game in which marks fired differently by playing each alone, the shortest first."""
        cases = [(int(slot), self.history.case(int(slot), *then)) for slot in slots]
        cases.sort(key=lambda entry: len(entry[1].actions))
        names = self.pair.names
        if isinstance(self.pair.world.engines[names[0]], RecordedRun):  # a tape plays no single game
            names, cases = (names[1], names[1]), cases[:1]
        with Pair(
            self.pair.world, names, 1, marks=True, timeout=self.settings.timeout, ledger=self.pair.ledger
        ) as alone:
            apart = ((slot, differs_at(alone, case)) for slot, case in cases)
            slot, found = next((each for each in apart if each[1] is not None), (cases[0][0], None))
        if found is None:
            found = Divergence(cases[0][1], tuple(self.pair.explain(fired, 0, slot)))
        self.active[slot] = False
        self.outcome.divergences.append(replace(found, game=slot))

    def check_dicts(self, slots: Slots) -> None:
        """Compare full state dicts, so that a field missing from the state arrays is noticed."""
        self.check(self.pair.check_states(slots), slots)

    def _goes_on(self) -> bool:
        is_in_time = self.taken == 0 or time.monotonic() < self.ends_at
        return is_in_time and len(self.outcome.divergences) < self.settings.stop_after

    def _replace_diverged(self) -> None:
        """Replace diverged games by games from new seeds, so that one fault does not hide the others."""
        while not self._injects_steps and (apart := np.flatnonzero(~self.active)).size and self._goes_on():
            self.active[apart] = True
            self._new_games(apart)

    def _new_games(self, slots: Slots) -> None:
        """Begin games from seeds that the run has not used yet."""
        self._number(slots)
        seeds = run_seeds(self.settings.seed + self.begun, len(slots), self.pair.world.seed_bits)
        self.begun += len(slots)
        if self.settings.mode == STRICT:
            seen = self.pair.reset(seeds, slots)
            self._note_seeds(slots)
            self._take(seen, slots)
        else:
            self.pair.reference.reset(seeds, slots)
            self._inject(slots)
        self._made_starts(slots)

    def _number(self, slots: Slots) -> None:
        """Number the games that begin in some slots."""
        self.numbers[slots] = self.outcome.games_begun + np.arange(len(slots))
        self.outcome.games_begun += len(slots)

    def _next_games(self, ended: Slots) -> None:
        self._number(ended)
        self.outcome.episodes += len(ended)
        if self.settings.mode != STRICT:
            self.pair.reference.restart(ended)
            self._inject(ended)
        else:
            if not self.settings.auto_reset:
                self._take(self.pair.restart(ended), ended, RESTART)
            self._note_seeds(ended)
        self._made_starts(ended)

    def _take(self, seen: Outputs, slots: Slots, *then: Action) -> None:
        """Compare the starts of games, and store their observations."""
        self.ignored.difference_update(slots.tolist())
        self.apart.difference_update(slots.tolist())
        self.check(seen, slots, *then)
        observation = np.array(seen.observation)
        if len(slots) < self.pair.games:
            observation, new = self.observation.copy(), observation
            observation[slots] = new
        self.observation = observation

    def _inject(self, slots: Slots) -> None:
        """Put both engines into the reference's states."""
        states = self.pair.reference.get_state(slots)
        self._place(dict(zip(slots.tolist(), states, strict=True)), "state of the reference")

    def _note_seeds(self, slots: Slots) -> None:
        seeds = self.pair.reference.seeds()
        for slot in slots:
            self.history.begin(int(slot), int(seeds[slot]))

    def _made_starts(self, slots: Slots) -> None:
        if made := self.source.starts(slots):
            self._place(made, "directed start")
        self._resynchronise()

    def _place(self, made: Mapping[int, State], what: str) -> None:
        chosen: Slots = np.array(list(made), dtype=np.intp)
        try:
            seen = self.pair.set_state(list(made.values()), chosen)
        except StateRefused as error:
            if others := self.source.unmutated(made):
                return self._place(others, what)
            raise EngineError(f"a {what} of world '{self.pair.world.name}' is refused: {error}") from error
        for slot, state in made.items():
            self.history.begin(slot, state)
        self.active[chosen] |= self._injects_steps
        return self._take(seen, chosen)
