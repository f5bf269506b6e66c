"""Pair of engines of one world that play the same games independently of each other."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.core.compare import INFO, STATE, Difference, Fields, explain, rows_that_differ, state_differences
from rlparity.core.guard import DEFAULT_TIMEOUT, GuardedEngine
from rlparity.core.ledger import THEN, Ledger
from rlparity.core.measurements import Measurements
from rlparity.core.trace import Action
from rlparity.engine import Array, BatchStep, Closable, Slots, State
from rlparity.errors import StateRefused, UsageError
from rlparity.world import World

Values = dict[str, Array | list[State]]


@dataclass(frozen=True)
class Outputs:
    """Outputs of both engines after one step or start, as fields with one row for each game concerned.

    step: output of the reference's step; None after a start.
    """

    expected: Fields
    observed: Fields
    step: BatchStep | None = None

    @property
    def observation(self) -> Array:
        """The reference's observations."""
        return np.asarray(self.expected["observation"])


class Pair(Closable):
    """Pair of the engines ``names`` of ``world``, with ``games`` slots each, for use in a ``with`` block.

    The pair never passes anything that one engine computed to the other. Its callers choose actions by what the
    first engine, the reference, shows, and give the same actions to both, except in free-running play.

    marks: count rule marks, and compare them unless ``compare_marks`` says otherwise; raises UsageError where marks
    are compared and an engine counts none.

    ledger: known differences, which do not end a replay. Fields that an engine's factory lists as ``unknown``, such as
    a tape's, are not compared. alone: open only the reference, to record or debug it. infos: compare infos too.
    """

    def __init__(
        self,
        world: World,
        names: tuple[str, str],
        games: int,
        *,
        marks: bool = False,
        compare_marks: bool | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        ledger: Ledger | None = None,
        alone: bool = False,
        infos: bool = False,
    ) -> None:
        self.world = world
        self.ledger = ledger
        self.explained: Counter[str] = Counter()
        self.met: defaultdict[str, set[int]] = defaultdict(set)
        """Games whose differences each ledger entry explained, by the entry's id."""
        self.ignores: Callable[[Difference], bool] = lambda _: False
        """Predicate of differences that do not end a replay unless others occur beside them."""
        self.names = names
        self.games = games
        self.all: Slots = np.arange(games)
        self.unknown: set[str] = {field for name in names for field in getattr(world.engines[name], "unknown", ())}
        self.is_black_box = world.states_replay or STATE in self.unknown
        """Whether the engines have no states, and are compared by their outputs alone."""
        self.compares_infos, self.has_infos = infos, False
        self.measured: Measurements | None = None
        self._exact = replace(world, tolerances={})
        with ExitStack() as undo:
            self.reference = GuardedEngine(world, names[0], games, marks=marks, timeout=timeout)
            undo.callback(self.reference.close)
            self.other = self.reference
            if not alone:
                self.other = GuardedEngine(world, names[1], games, marks=marks, timeout=timeout)
                undo.callback(self.other.close)
            self.both = (self.reference,) if alone else (self.reference, self.other)
            has_dicts = STATE not in self.unknown
            reads_arrays = has_dicts and not (alone and games == 1)  # a lone game of one engine needs its dict only
            self._arrays = reads_arrays and all(engine.state_arrays() is not None for engine in self.both)
            self._left_out: tuple[Array | int, ...] = 0, 0
            self.compares_marks = marks if compare_marks is None else compare_marks
            is_counted = self.compares_marks or (marks and all(engine.marks() is not None for engine in self.both))
            self._counted = self.marks() if is_counted else None
            undo.pop_all()

    def reset(self, seeds: NDArray[np.uint64], slots: Slots | None = None) -> Outputs:
        """Start new games in some slots, or in all."""
        chosen = self.all if slots is None else slots
        return self._situations(lambda engine: engine.reset(seeds, chosen), chosen)

    def restart(self, slots: Slots) -> Outputs:
        """Apply the world's auto-reset in some slots."""
        return self._situations(lambda engine: engine.restart(slots), slots)

    def set_state(self, states: Sequence[State], slots: Slots) -> Outputs:
        """Put states into some slots. Raises StateRefused when an engine does not take them."""
        try:
            return self._situations(lambda engine: engine.set_state(states, slots), slots, placed=True)
        except StateRefused:
            if self._counted is not None:  # leave out marks of an engine that took a state which the other refused
                fired = zip(self._left_out, self.marks(), self._counted, strict=True)
                self._left_out = tuple(out + now - before for out, now, before in fired)
            raise

    def step(self, actions: NDArray[Any], *, restarting: bool = False, others: NDArray[Any] | None = None) -> Outputs:
        """Play one action in every game; with ``restarting``, the engines themselves also auto-reset ended games.

        ``others``: the second engine's own actions, for games that are no longer compared.
        """
        sides = actions, actions if others is None else others
        # an engine may change its array, which the other one must not see
        given = [(engine, taken.copy()) for engine, taken in zip(self.both, sides, strict=False)]
        for engine, taken in given:
            engine.begin_step(taken, restarting=restarting)
        # the engine that began last is waited for first: meanwhile the other finishes, and nobody polls for its answer
        steps = [engine.step_restarting(taken) if restarting else engine.step(taken) for engine, taken in given[::-1]]
        steps.reverse()
        fields = [
            step_fields(self.world, step) | self._situation_fields(engine, self.all)
            for engine, step in zip(self.both, steps, strict=True)
        ]
        seen = Outputs(self._known(fields[0]), self._known(fields[-1]), steps[0])
        if self.measured is not None:
            self.measured.step(seen.expected, steps[0], actions, restarting=restarting)
        return seen

    def states_before(self, slots: Slots) -> list[State]:
        """The reference's states of some slots; empty where the ledger has no conditions on states."""
        if self.ledger is None or not self.ledger.reads_states:
            return []
        return self.reference.get_state(slots)

    def known(
        self, before: State, action: Action | None, differences: Sequence[Difference], game: int = 0
    ) -> str | None:
        """Look up what the ledger does about differences (drop, resynchronise, ignore) and count the match, else None.

        ``game``: number of the game in a run. Raises UsageError where two entries explain one field.
        """
        entries = () if self.ledger is None else self.ledger.entries_of(before, action, differences)
        self.explained.update(entry.id for entry in entries)
        for entry in entries:
            self.met[entry.id].add(game)
        if entries and self.measured is not None:
            self.measured.explained += 1
        return min((entry.then for entry in entries), key=THEN.index, default=None)

    def rows_that_differ(self, seen: Outputs) -> NDArray[np.bool_]:
        """(rows,) bool: the games in which the engines differ."""
        if not seen.expected:  # no compared field is known
            return np.zeros(1, np.bool_)
        differ = rows_that_differ(self.world, seen.expected, seen.observed)
        if self.measured is not None and self.world.tolerances and seen.step is not None:
            self.measured.excused += int((rows_that_differ(self._exact, seen.expected, seen.observed) & ~differ).sum())
        return differ

    def explain(self, seen: Outputs, row: int, slot: int) -> list[Difference]:
        """List every difference in one game; states are explained by their dicts wherever the dicts differ."""
        differences = explain(self.world, seen.expected, seen.observed, row)
        if not self._arrays or all(found.family != STATE for found in differences):
            return differences
        place: Slots = np.array([slot])
        dicts = list(state_differences(self.world, self.reference.get_state(place)[0], self.other.get_state(place)[0]))
        if not dicts:
            return differences
        return [*(found for found in differences if found.family != STATE), *dicts]

    def check_states(self, slots: Slots) -> Outputs:
        """Read the states of some slots as dicts, to reveal fields that are missing from the state arrays."""
        return self._observed(lambda engine: {} if STATE in self.unknown else {STATE: engine.get_state(slots)})

    def look(self) -> Outputs:
        """Read the masks, seeds and states of all games as they are now."""
        return self._observed(lambda engine: self._situation_fields(engine, self.all))

    def _situations(self, do: Callable[[GuardedEngine], Array], slots: Slots, *, placed: bool = False) -> Outputs:
        def fields(engine: GuardedEngine) -> Values:
            shown: Values = {"observation": do(engine)}
            if (facts := engine.facts()) is not None:
                shown["facts"] = facts[slots]
            return shown | self._situation_fields(engine, slots)

        seen = self._observed(fields)
        if self.measured is not None and seen.expected:
            self.measured.start(seen.expected, slots, placed=placed)
        return seen

    def _observed(self, fields: Callable[[GuardedEngine], Values]) -> Outputs:
        sides = [*map(fields, self.both)]
        return Outputs(self._known(sides[0]), self._known(sides[-1]))

    def _known(self, fields: Values) -> Values:
        return {name: values for name, values in fields.items() if name not in self.unknown} if self.unknown else fields

    def _situation_fields(self, engine: GuardedEngine, slots: Slots) -> Values:
        """Read mask, seed and state: as arrays where both engines offer them, else and for a single game as dicts."""
        fields: Values = {"mask": engine.mask()[slots], "seed": engine.seeds()[slots]}
        if (infos := engine.infos()) is not None:
            self.has_infos = self.has_infos or any(infos)
            fields |= {INFO: [infos[slot] for slot in slots]} if self.compares_infos else {}
        is_part = len(slots) < self.games
        if STATE in self.unknown or (is_part and self.ledger is None):
            return fields  # reading states costs most: a few restarted games are compared after their next step
        arrays = engine.state_arrays() if self._arrays and not is_part else None
        if arrays is not None:
            fields |= {f"{STATE}.{name}": values for name, values in arrays.items()}
        if arrays is None or self.games == 1:
            fields[STATE] = engine.get_state(slots)
        return fields

    def marks(self) -> tuple[Array, Array]:
        """Per engine, how often each mark fired since the engines were opened, (marks,) int64."""
        counts = [*map(_counts, self.both)]
        return counts[0] - self._left_out[0], counts[-1] - self._left_out[1]

    def newly_fired(self) -> Outputs | None:
        """Count how often each mark fired since the last call, one row; None where an engine counts none.

        Engines count marks for all games together, so the row shows that some game differs, but not which.
        """
        if self._counted is None:
            return None
        before, self._counted = self._counted, self.marks()
        expected, observed = ({"marks": (now - then)[None]} for now, then in zip(self._counted, before, strict=True))
        return Outputs(expected, observed)

    @property
    def replays_states(self) -> bool:
        """Whether a state is only a seed and the actions since then."""
        return self.world.states_replay or any(engine.declarations().get("replays_states") for engine in self.both)

    @property
    def has_masks(self) -> bool:
        """Whether an engine's games may have masks."""
        return any(engine.declarations().get("masks", True) for engine in self.both)

    def close(self) -> None:
        """Close both engines."""
        for engine in self.both:
            engine.close()


def step_fields(world: World, step: BatchStep) -> Values:
    """Outputs of a step as fields with one row for each game; events as flags."""
    names = ("observation", "components", "reward", "terminated", "truncated", "facts")
    fields: Values = {name: getattr(step, name) for name in names if getattr(step, name) is not None}
    if step.events is not None:
        fields["events"] = (step.events[:, None] >> np.arange(len(world.events), dtype=step.events.dtype)) & 1
    return fields


def _counts(engine: GuardedEngine) -> Array:
    marks = engine.marks()
    if marks is None:
        raise UsageError(f"engine '{engine.name}' does not count marks: its factory must accept marks=True.")
    return marks.astype(np.int64)
