"""What a change does: the same games on two sides, and whatever differs counted by family."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from parity.compare import STATE, Difference, elements_that_differ, rows_that_differ
from parity.diff_corpus import Part
from parity.diff_sides import Shared
from parity.engine import Array, Slots, State
from parity.errors import StateRefused, UsageError
from parity.history import History
from parity.lockstep import Settings
from parity.pair import Observed, Pair
from parity.replay import Divergence
from parity.rewards import Change
from parity.sources import choose_actions, valid_weights
from parity.trace import RESTART, Action, Case
from parity.world import View, World

REWARD, REWARDS, START, OBSERVATION = "reward", "rewards", "start", "observation"
_PLAIN = (OBSERVATION, "mask", REWARD, REWARDS, "terminated", "truncated", "seed", START, "facts", "events", STATE)
_TAKEN = "taken"
MOST_CHANGES = 200


def family_of(difference: Difference) -> str:
    """The family of a difference, such as ``observation``, ``rewards:kills``, ``facts:stage`` or ``state:player``."""
    name, _, rest = difference.field.partition("[")
    if name in ("facts", "events", "components"):
        return f"{REWARDS if name == 'components' else name}{rest and ':'}{rest.removesuffix(']')}"
    return ":".join(name.split(".")[:2])


def is_in(family: str, named: str) -> bool:
    """Tell whether a family is the named one, or one of those that the name stands for."""
    return family == named or family.startswith(f"{named}:")


def is_of_reward(family: str) -> bool:
    """Tell a family of the reward, in whose differences a game goes on the same."""
    return family == REWARD or is_in(family, REWARDS)


def check_expected(world: World, names: Sequence[str]) -> None:
    """Raises UsageError for a name that is no family of the world."""
    lists = {REWARDS: world.components, "facts": world.facts, "events": world.events, STATE: world.state_fields}
    known = {*_PLAIN, *(f"{family}:{name}" for family, names in lists.items() for name in names)}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"--expect {unknown[0]} names no family: choose among {', '.join(sorted(known))}.")


@dataclass
class Family:
    """Differences of one family. first: found first; games: in which; alone: rewards without a component's change."""

    first: Divergence
    transitions: int = 0
    games: set[int] = field(default_factory=set)
    alone: int = 0


class Comparison:
    """The same games on two sides, and what differs. Arrays are by side (2) and game.

    parted: the number of steps after which a game differed in more than its reward, -1 where it never did.
    compared: steps up to there. components (2, games, components): sums over the compared steps, in units.
    returns (2, games): rewards of the whole game, which goes its own way on each side once it has parted.
    changes: the largest of components. refused: the number of starts that a side does not take.
    behaviour: of each agent, the total variation of its probabilities where observations begin to differ.
    """

    def __init__(self, shared: Shared, pair: Pair, parts: Sequence[Part], settings: Settings) -> None:
        self.shared, self.parts, self.settings = shared, parts, settings
        self._pair, self._world = pair, shared.world
        self._games = [game for part in parts for game in part.games]
        self.episodes = [game.name for game in self._games]
        sizes = [len(part.games) for part in parts]
        self.slots = np.split(pair.all, np.cumsum(sizes)[:-1])
        self.families: dict[str, Family] = {}
        self.behaviour: dict[str, list[float]] = {part.name: [] for part in parts if part.is_agent}
        self.changes: list[Change] = []
        self.refused = self._steps = 0
        self.parted = np.full(pair.games, -1)
        self.compared = np.zeros(pair.games, np.int64)
        self.components = np.zeros((2, pair.games, len(self._world.components)))
        self.returns = np.zeros((2, pair.games))
        self._limits = np.array([settings.steps if game.actions is None else len(game.actions) for game in self._games])
        self._is_agent = np.repeat([part.is_agent for part in parts], sizes)
        invalid = settings.invalid * shared.plays.all()  # else one might be an action that a side lacks
        self._invalid = invalid * np.repeat([part.source is not None and not part.is_agent for part in parts], sizes)
        self._history = History(pair.games, marks=False, auto_reset=False)
        self._together = np.ones(pair.games, np.bool_)
        self._running = np.ones((2, pair.games), np.bool_)
        self._observations: list[Array] = []
        self._newly_read: list[int] = []

    def play(self, progress: Callable[[], object] = lambda: None) -> None:
        """Play every game to its end, or to its last step.

        Both sides get the same starts and actions, which are chosen from what side A gives, and are never brought back
        together: a game that differs in more than its reward is compared no further. Raises EngineError and UsageError.
        """
        self._begin()
        while self._running.any():
            self._advance()
            progress()
        self.families = dict(sorted(self.families.items(), key=lambda entry: entry[1].first.step))

    def is_noise(self, difference: Difference, wanted: str = "") -> bool:
        """Tell a difference of another family than the wanted one in which games go on the same."""
        family = family_of(difference)
        return family != wanted and (is_of_reward(family) or (family == OBSERVATION and not self.shared.observes))

    def unexpected(self, expected: Sequence[str]) -> list[str]:
        """The families that differ and are not expected. The reward may differ wherever an expected component does."""
        missed = [name for name in self.families if not any(is_in(name, each) for each in expected)]
        is_explained = not any(is_in(name, REWARDS) for name in missed)
        return [name for name in missed if name != REWARD or self.families[name].alone or not is_explained]

    def case(self, slot: int, *then: Action) -> Case:
        """The compared course of a game, and what was done ``then``."""
        course = self._history.case(slot).prefix(int(self.compared[slot]))
        return replace(course, actions=(*course.actions, *then))

    def _begin(self) -> None:
        """Start every game on both sides; one whose start a side refuses is left out."""
        starts = [game.start for game in self._games]
        seeds = np.array([0 if isinstance(start, dict) else start for start in starts], np.uint64)
        self._observations = [engine.reset(seeds, self._pair.all).copy() for engine in self._pair.both]
        for slot, start in enumerate(starts):
            self._history.begin(slot, start)
            answers = [self._put(side, slot, start) if isinstance(start, dict) else _TAKEN for side in range(2)]
            if answers != [_TAKEN, _TAKEN]:
                self.refused += 1
                self._together[slot] = self._running[:, slot] = False
                if _TAKEN in answers:
                    self._note(START, [slot], (Difference(START, *answers),))
        look, (one, other) = self._pair.look(), self._observations
        begun = Observed({OBSERVATION: one, **look.expected}, {OBSERVATION: other, **look.observed})
        self._part_ways(begun, self._pair.all)
        self._end_games()

    def _put(self, side: int, slot: int, start: State) -> str:
        """Begin a game in a state on one side; returns what that says to it."""
        try:
            self._observations[side][slot] = self._pair.both[side].set_state([start], np.array([slot]))[0]
        except StateRefused as error:
            return str(error)
        return _TAKEN

    def _advance(self) -> None:
        """One action in every game; games that parted go on, each side by itself, for the returns of agents."""
        masks = [engine.mask() for engine in self._pair.both]
        weights = self._weights(0, masks[0], self._running[0])
        actions = others = self._chosen(weights, masks[0])
        if (apart := self._running[1] & ~self._together).any():
            their_weights = self._weights(1, masks[1], apart)
            others = np.where(apart, self._chosen(their_weights, masks[1]), actions)
            self._note_behaviour(valid_weights(weights, masks[0]), valid_weights(their_weights, masks[1]))
        seen = self._pair.step(actions, others=others)
        self._history.add(actions)
        self._steps += 1
        self.compared += self._together
        self._count_rewards(seen, actions)
        self._part_ways(seen, self._pair.all)
        for side, fields in enumerate((seen.expected, seen.observed)):
            self._observations[side] = np.array(fields[OBSERVATION])
            self.returns[side] += np.where(self._running[side], np.asarray(fields[REWARD]), 0.0)
            self._running[side] &= ~(np.asarray(fields["terminated"]) | fields.get("truncated", False))
        self._end_games()

    def _weights(self, side: int, mask: NDArray[np.bool_], needed: NDArray[np.bool_]) -> Array:
        """(games, actions): what policies say of their games on a side; ones where no game of a policy is needed."""
        weights = np.ones(mask.shape)
        for part, slots in zip(self.parts, self.slots, strict=True):
            if part.source is not None and needed[slots].any() and (side == 0 or self.shared.observes):
                view = View(self._observations[side][slots], mask[slots], slots, self._pair.both[side].get_state)
                weights[slots] = part.source.weights(view)
        return weights

    def _chosen(self, weights: Array, mask: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Actions by these weights, or as recorded; the same draws on both sides."""
        rng = np.random.default_rng([self.settings.seed, self._steps])
        actions = choose_actions(rng, weights, mask, self._invalid)
        for slot, game in enumerate(self._games):
            if game.actions is not None and self._steps < len(game.actions):
                actions[slot] = game.actions[self._steps]
        return actions

    def _note_behaviour(self, *weights: Array) -> None:
        """Compare probabilities where observations have just begun to differ; afterwards games differ too."""
        slots = [slot for slot in self._newly_read if self._running[:, slot].all()]
        one, other = (side[slots] / side[slots].sum(axis=1, keepdims=True) for side in weights)
        distances = np.abs(one - other).sum(axis=1) / 2
        for part, own in zip(self.parts, self.slots, strict=True):
            if part.is_agent:
                self.behaviour[part.name] += distances[np.isin(slots, own)].tolist()
        self._newly_read = []

    def _count_rewards(self, seen: Observed, actions: NDArray[np.int32]) -> None:
        """Count differences of the reward in the games that are compared, which go on."""
        sides, active, names = (seen.expected, seen.observed), self._together, self._world.components
        one, other = (np.asarray(fields["components"]) for fields in sides)
        self.components += np.where(active[:, None], [one, other], 0)
        differ = elements_that_differ(self._world, "components", one, other) & active[:, None]
        rewards = (np.asarray(fields[REWARD]) for fields in sides)
        total = elements_that_differ(self._world, REWARD, *rewards) & active
        families = [*(f"{REWARDS}:{name}" for name in names), REWARD]
        for family, rows in zip(families, [*differ.T, total], strict=True):
            if slots := np.flatnonzero(rows).tolist():
                is_new = family not in self.families
                self._note(family, slots, tuple(self._pair.explain(seen, slots[0], slots[0])) if is_new else ())
        if total.any():
            self.families[REWARD].alone += int((total & ~differ.any(axis=1)).sum())
        if (places := np.argwhere(differ)).size:
            new = (
                Change(self.episodes[game], self._steps - 1, int(actions[game]), names[column], *values)
                for (game, column), *values in zip(places, one[differ].tolist(), other[differ].tolist(), strict=True)
            )
            self.changes = heapq.nlargest(MOST_CHANGES, [*self.changes, *new], key=_size)

    def _part_ways(self, seen: Observed, slots: Slots, *then: Action) -> None:
        """Take games that differ in more than their reward out of the comparison."""
        skipped = {"components", REWARD} | (set() if self.shared.observes else {OBSERVATION})
        fields = [
            {name: values for name, values in side.items() if name not in skipped}
            for side in (seen.expected, seen.observed)
        ]
        differ = rows_that_differ(self._world, *fields) & self._together[slots]
        for row in np.flatnonzero(differ).tolist():
            slot = int(slots[row])
            differences = tuple(self._pair.explain(seen, row, slot))
            families = {family_of(each) for each in differences if not self.is_noise(each)}
            for name in sorted(families):
                self._note(name, [slot], differences, *then)
            self._together[slot] = False
            self._running[:, slot] &= self._is_agent[slot]
            self.parted[slot] = self._steps
            if OBSERVATION in families:
                self._newly_read.append(slot)

    def _end_games(self) -> None:
        """Compare the last states of games that are over and, where an end is due, the next ones' beginning."""
        ended = self._together & ~self._running[0]
        over = ended | (self._steps >= self._limits)
        if not self.shared.plays.all():
            over |= ~self._pair.reference.mask().any(axis=1)  # only actions that a side lacks are left
        if (slots := np.flatnonzero(over & self._together)).size:
            self._part_ways(self._pair.check_states(slots), slots)
        if (slots := np.flatnonzero(ended)).size:
            begun, states = self._pair.restart(slots), self._pair.check_states(slots)
            both = Observed({**begun.expected, **states.expected}, {**begun.observed, **states.observed})
            self._part_ways(both, slots, RESTART)
        self._together &= ~over
        self._running &= ~over

    def _note(self, name: str, slots: list[int], differences: tuple[Difference, ...], *then: Action) -> None:
        if name not in self.families:
            self.families[name] = Family(Divergence(self.case(slots[0], *then), differences, slots[0]))
        self.families[name].transitions += len(slots)
        self.families[name].games.update(slots)


def _size(change: Change) -> float:
    """What changes are sorted by: NaN is the largest."""
    return abs(change.amount) if change.amount == change.amount else float("inf")
