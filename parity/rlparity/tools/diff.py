"""Behavioural diff of two versions: play the same games on both sides, and count the differences by family."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rlparity.agent import View
from rlparity.core.compare import OBSERVATION, STATE, Difference, explain, rows_that_differ
from rlparity.core.free_running import FreeRun
from rlparity.core.pair import Outputs, Pair
from rlparity.core.replay import Divergence
from rlparity.core.settings import Settings
from rlparity.core.sources import choose_actions
from rlparity.core.trace import RESTART, Action, Case, batch_of
from rlparity.engine import Array, Slots, State
from rlparity.errors import StateRefused, UsageError, unknown
from rlparity.spaces import action_numbers
from rlparity.tools.diff_sides import Part, Shared
from rlparity.tools.rewards import Change
from rlparity.world import World

REWARD, REWARDS, START = "reward", "rewards", "start"
_PLAIN = (OBSERVATION, "mask", REWARD, REWARDS, "terminated", "truncated", "seed", START, "facts", "events", STATE)
_EARNED = ("components", REWARD)
_TAKEN = "taken"
MOST_CHANGES = 200


def family_of(difference: Difference) -> str:
    """Family of a difference, such as ``observation``, ``rewards:kills``, ``facts:stage`` or ``state:player``."""
    name, has_index, index = difference.field.partition("[")
    if name in ("facts", "events", "components"):
        return f"{REWARDS if name == 'components' else name}{has_index and ':'}{index.removesuffix(']')}"
    return ":".join(name.split(".")[:2])


def is_in(family: str, named: str) -> bool:
    """Whether a family is ``named`` or below it: ``rewards:kills`` is in ``rewards``."""
    return family == named or family.startswith(f"{named}:")


def is_of_reward(family: str) -> bool:
    """Whether a family is the reward's: differences in rewards do not change how a game continues."""
    return family == REWARD or is_in(family, REWARDS)


def check_expected(world: World, names: Sequence[str]) -> None:
    """Raise UsageError for a name that is not a family of the world."""
    lists = {REWARDS: world.components, "facts": world.facts, "events": world.events, STATE: world.state_fields}
    known = {*_PLAIN, *(f"{family}:{name}" for family, names in lists.items() for name in names)}
    if others := [name for name in names if name not in known]:
        listed = ", ".join(sorted(known))
        raise UsageError(f"no family of differences is {unknown(others[0], known)}: give --expect one of {listed}.")


@dataclass
class Family:
    """Count of the differences of one family. first: the one found first; games: the games that have any."""

    first: Divergence
    transitions: int = 0
    games: set[int] = field(default_factory=set)


class Comparison(FreeRun):
    """Free run of the same games on two sides that counts differences. Arrays are by side (2) and game.

    parted: the number of steps after which a game differed in more than its reward, -1 where it never did.
    compared: steps up to that point. components (2, games, components): sums over the compared steps, in units.
    changes: the largest changes of components. refused: the number of start states that a side rejects.
    """

    def __init__(self, shared: Shared, pair: Pair, parts: Sequence[Part], settings: Settings) -> None:
        super().__init__(pair, settings)
        pair.unknown.discard(STATE)  # unlike other free runs, this one compares states
        self.shared, self.parts, self._world = shared, parts, shared.world
        self._games = [game for part in parts for game in part.games]
        self.episodes = [game.name for game in self._games]
        sizes = [len(part.games) for part in parts]
        self.slots = np.split(pair.all, np.cumsum(sizes)[:-1])
        self.families: dict[str, Family] = {}
        self.changes: list[Change] = []
        self.refused = 0
        self._is_unexplained = False
        """Whether some reward differs while all of its components agree."""
        self.parted = np.full(pair.games, -1)
        self.compared = np.zeros(pair.games, np.int64)
        self.components = np.zeros((2, pair.games, len(self._world.components)))
        self._limits = np.array([settings.steps if game.actions is None else len(game.actions) for game in self._games])
        self._is_agent = np.repeat([part.is_agent for part in parts], sizes)
        invalid = settings.invalid * shared.plays.all()  # an invalid action might be one that a side lacks
        self._invalid = invalid * np.repeat([part.source is not None and not part.is_agent for part in parts], sizes)
        self._taken: Array = np.zeros(pair.games, np.int32)

    @property
    def returns(self) -> Array:
        """Returns of whole games (2, games); after a game has parted, each side plays it on by itself."""
        return self.measures["return"]

    def play(self, progress: Callable[[], object] = lambda: None) -> None:
        """Play every game to its end, or to its last step.

        Both sides get the same starts and actions, chosen from the outputs of side A. They are never resynchronised:
        a game that differs in more than its reward is compared no further. Raises EngineError and UsageError.
        """
        self._begin()
        while self.running.any():
            self.advance()
            self._end_games()
            progress()
        order = sorted(self.families.items(), key=lambda entry: (entry[1].first.step, entry[0] == REWARD))
        self.families = dict(order)
        self.changes.sort(key=lambda change: np.nan_to_num(abs(change.amount), nan=np.inf), reverse=True)
        del self.changes[MOST_CHANGES:]

    def is_noise(self, difference: Difference, wanted: str) -> bool:
        """Whether a difference is in the reward, which leaves the game unchanged, and in another family than wanted."""
        family = family_of(difference)
        return family != wanted and is_of_reward(family)

    def unexpected(self, expected: Sequence[str]) -> list[str]:
        """List the families that differ and are not expected; an expected component explains a different reward."""
        missed = [name for name in self.families if not any(is_in(name, each) for each in expected)]
        is_explained = not any(is_in(name, REWARDS) for name in missed)
        return [name for name in missed if name != REWARD or self._is_unexplained or not is_explained]

    def case(self, slot: int) -> Case:
        """The start and the actions of a game, up to the last step that was compared."""
        return self.history.case(slot).prefix(int(self.compared[slot]))

    def _begin(self) -> None:
        """Start every game on both sides; leave out games whose start a side refuses."""
        starts = [game.start for game in self._games]
        seeds = np.array([0 if isinstance(start, dict) else start for start in starts], np.uint64)
        self._observations = [engine.reset(seeds, self.pair.all).copy() for engine in self.pair.both]
        for slot, start in enumerate(starts):
            self.history.begin(slot, start)
            answers = [self._put(side, slot, start) if isinstance(start, dict) else _TAKEN for side in range(2)]
            if answers != [_TAKEN, _TAKEN]:
                self.refused += 1
                self.active[slot] = self.running[:, slot] = False
                if _TAKEN in answers:
                    self._note(START, slot, (Difference(START, *answers),))
        look, (one, other) = self.pair.look(), self._observations
        begun = Outputs({OBSERVATION: one, **look.expected}, {OBSERVATION: other, **look.observed})
        self.check(begun, self.pair.all)
        self._end_games()

    def _put(self, side: int, slot: int, start: State) -> str:
        """Set the state of a game on one side; return ``_TAKEN``, or the text of the side's refusal."""
        try:
            self._observations[side][slot] = self.pair.both[side].set_state([start], np.array([slot]))[0]
        except StateRefused as error:
            return str(error)
        return _TAKEN

    def _actions(self, side: int) -> Array:
        """Choose a side's actions (games,) by the same random draws; side B chooses only in games that have parted.

        Actions are uniform over the valid ones where no game of a policy needs one, or it cannot read observations.
        """
        needed = self.running[side] if side == 0 else self.running[side] & ~self.active
        if side == 1 and not needed.any():
            return self._taken
        mask = self.pair.both[side].mask()
        weights = np.ones(mask.shape)
        for part, slots in zip(self.parts, self.slots, strict=True):
            if part.source is not None and needed[slots].any() and (side == 0 or self.shared.observes):
                view = View(self._observations[side][slots], mask[slots], slots, self.pair.both[side].get_state)
                weights[slots] = part.source.weights(view)
        rng = np.random.default_rng([self.settings.seed, self.taken])
        actions = choose_actions(rng, weights, mask, self._invalid, self._world.action_space)
        if side == 1:
            return np.where(needed.reshape(-1, *(1,) * (actions.ndim - 1)), actions, self._taken)
        for slot, game in enumerate(self._games):
            if game.actions is not None and self.taken < len(game.actions):
                actions[slot] = batch_of(self._world, game.actions[self.taken])[0]
        self._taken = actions
        return actions

    def check(self, seen: Outputs, slots: Slots, *then: Action) -> None:
        """Record the differences of compared games, and drop games that differ in more than their reward."""
        sides = seen.expected, seen.observed
        if seen.step is not None:
            self._observations = [np.array(side[OBSERVATION]) for side in sides]
            self.compared += self.active
            earned = [np.asarray(side["components"]) for side in sides]
            self.components += np.where(self.active[:, None], earned, 0)
        others = [{name: side[name] for name in side if name not in _EARNED} for side in sides]
        rewards = [{name: side[name] for name in _EARNED if name in side} for side in sides]
        alone = Outputs(rewards[0], rewards[1])  # where only rewards differ, nothing else needs explaining
        leave = rows_that_differ(self._world, *others)
        differ = leave | rows_that_differ(self._world, *rewards) if any(rewards) else leave
        for row in np.flatnonzero(differ & self.active[slots]).tolist():
            slot = int(slots[row])
            differences = tuple(self.pair.explain(seen if leave[row] else alone, row, slot))
            if any(each.field == "components" for each in differences):  # the dtypes differ: compare the values, too
                one, other = ({"components": np.asarray(side["components"], np.float64)} for side in rewards)
                differences += tuple(explain(self._world, one, other, row))
            found = {family_of(each): each for each in differences if each.family == "components"}
            families = dict.fromkeys(map(family_of, differences))
            for name in families:
                self._note(name, slot, differences, *then)
            self._is_unexplained |= REWARD in families and not found
            step = self.episodes[slot], self.taken - 1, action_numbers(self._taken[slot])
            self.changes += [
                Change(*step, component, each.expected, each.observed)
                for name, each in found.items()
                if (component := name.partition(":")[2])  # empty where the dtypes of the sides differ
            ]
            if leave[row]:
                self.active[slot] = False
                self.running[:, slot] &= self._is_agent[slot]
                self.parted[slot] = self.taken

    def _end_games(self) -> None:
        """Compare the last states of games that are over and, where a game ended, the start of the next one."""
        ended = self.active & ~self.running[0]
        over = ended | (self.taken >= self._limits)
        if not self.shared.plays.all():
            over |= ~self.pair.reference.mask().any(axis=1)  # no action is left that both sides have
        if (slots := np.flatnonzero(over & self.active)).size:
            self.check(self.pair.check_states(slots), slots)
        if (slots := np.flatnonzero(ended)).size:
            begun, states = self.pair.restart(slots), self.pair.check_states(slots)
            both = Outputs({**begun.expected, **states.expected}, {**begun.observed, **states.observed})
            self.check(both, slots, RESTART)
        self.active &= ~over
        self.running &= ~over

    def _note(self, name: str, slot: int, differences: tuple[Difference, ...], *then: Action) -> None:
        if name not in self.families:
            self.families[name] = Family(Divergence(self.history.case(slot, *then), differences, slot))
        self.families[name].transitions += 1
        self.families[name].games.add(slot)
