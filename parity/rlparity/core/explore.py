"""Exploring action source: steers play toward rarely seen behaviour, as coverage-guided fuzzers do.

Every step is reduced to a set of *features*, and the source counts how often each one is seen. A run begins as a
directed run, and so finds easy differences at the same step. Once no new features appear, play in each slot is cut into
segments. A segment has a start (the game continues, or begins in a state of a start maker or of the corpus), a policy
and a length; then the next segment begins. Makers and policies that lead to rare features are chosen more often.
The start and the actions that first led to a feature go into the corpus, to be mutated and replayed.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rlparity.agent import View
from rlparity.core.features import NUM_FEATURES, Features
from rlparity.core.guard import json_copy
from rlparity.core.pair import Outputs
from rlparity.core.sources import NO_SLOTS, DirectedSource, choose_actions
from rlparity.engine import Slots, State
from rlparity.spaces import Box
from rlparity.world import World

STALE = 32
"""Consecutive transitions without a new feature, over all games, after which directed play ends."""
LONGEST = 128
"""Maximum steps of a segment, not counting the actions that it replays."""
REMEMBERED = 2 * LONGEST
GO_ON, GO_ON_FOUND, FROM_CORPUS = 0.1, 0.8, 0.2
"""Shares of segments that continue the game, that continue it after a segment with a new feature, and that begin in a
corpus state; the others begin in a made state."""
LEARNED, MUTATED, TASTE = 0.5, 0.7, 0.5
"""Shares of made starts chosen by credit, of corpus starts that are mutated, of segments with random action weights."""
MOST_FOUND = 4
"""Maximum new corpus entries per step, a limit because their states may have to be read from the engine."""
FORGETTING = 0.97
"""Decay, at each choice, of the credit that makers and policies earned before."""
REPLAYED = 10
"""Added to a feature's count when its entry is replayed, so that unrepeatable features are not chosen every time."""
LAST_INVALID = 50
"""Factor of the invalid share for a segment's last action: an invalid action ends the episode in many worlds."""
_WORD = 2**32 - 1


@dataclass(frozen=True)
class CorpusEntry:
    """Corpus entry: start, seed and actions of a segment up to a new feature, or the state there without actions."""

    start: State
    seed: int
    actions: tuple[Any, ...]


class ExploreSource(DirectedSource):
    """Action source that plays like a directed run until that shows nothing new, and then explores."""

    def __init__(self, world: World, games: int, rng: np.random.Generator) -> None:
        super().__init__(world, games, rng)
        self._seeds = 2**world.seed_bits
        self._own = rng.spawn(1)[0]  # a separate stream, so that directed play draws as without exploration
        self._is_directed, self._stale = True, 0
        self._has_found = np.zeros(games, np.bool_)
        self._taken = np.zeros(games, np.intp)
        self._length = np.zeros(games, np.intp)
        self._starts: list[State | None] = [None] * games
        self._scripts: list[tuple[Any, ...]] = [()] * games
        self._taste = np.ones((games, len(world.actions)))
        self._rows: deque[NDArray[Any]] = deque(maxlen=REMEMBERED)
        self._mutated: tuple[int, State] | None = None
        """Slot of the one mutated start among the last starts, and its state before the mutation."""
        self._corpus: dict[int, CorpusEntry] = {}
        self._read_states: Callable[[Slots], list[State]] = lambda slots: []
        self._ranges: dict[str, tuple[int, int]] = {}
        self._seen = np.ones(NUM_FEATURES)
        self._tried = np.ones(len(world.actions))
        self._maker = np.full(games, -1)
        self._credit = np.zeros(games)
        shape = len(self._makers), len(self._policies)
        self._earned, self._spent = np.ones(shape), np.ones(shape)
        self._features = Features()

    def starts(self, slots: Slots) -> dict[int, State]:
        """Begin new segments in these slots; returns slot -> start state, without slots whose games continue."""
        self._mutated = None
        learned = slots[self._maker[slots] >= 0]
        self._earned, self._spent = FORGETTING * self._earned, FORGETTING * self._spent
        np.add.at(self._earned, (self._maker[learned], self._chosen[learned]), self._credit[learned])
        np.add.at(self._spent, (self._maker[learned], self._chosen[learned]), self._taken[learned])
        if self._is_directed:
            made = super().starts(slots)
        else:
            self._chosen[slots] = self._own.integers(len(self._policies), size=len(slots))
            made = {slot: state for slot in slots.tolist() if (state := self._begin(slot)) is not None}
        for slot in slots.tolist():
            self._starts[slot] = made.get(slot)
        self._has_found[slots] = False
        self._taken[slots] = self._credit[slots] = 0
        return made

    def unmutated(self, made: Mapping[int, State]) -> dict[int, State] | None:
        """Undo the mutation among the last starts; returns all of them, or None where none was mutated."""
        if self._mutated is None:
            return None
        (slot, state), self._mutated = self._mutated, None
        self._starts[slot] = state
        return {**made, slot: state}

    def _begin(self, slot: int) -> State | None:
        """Choose a segment; returns the state that it begins in, None where the game continues."""
        draw = self._own.random()
        self._length[slot] = int(np.exp(self._own.uniform(0, np.log(LONGEST + 1))))
        self._scripts[slot], self._maker[slot] = (), -1
        has_taste = self._own.random() < TASTE
        self._taste[slot] = np.exp(2 * self._own.standard_normal(self._taste.shape[1])) if has_taste else 1
        if draw < (GO_ON_FOUND if self._has_found[slot] else GO_ON):
            return None
        if draw < GO_ON + FROM_CORPUS or not self._makers:
            return self._from_corpus(slot) if self._corpus and draw < 0.5 else None
        maker = self._below(len(self._makers))
        if self._own.random() < LEARNED:
            makers, policies = (self._earned.sum(axis=axis) / self._spent.sum(axis=axis) for axis in (1, 0))
            maker = self._own.choice(len(makers), p=makers / makers.sum())
            self._chosen[slot] = self._own.choice(len(policies), p=policies / policies.sum())
        self._maker[slot] = maker
        return self._made(maker, self._own)

    def _from_corpus(self, slot: int) -> State:
        """Choose a corpus entry, preferring rare features, whose actions the segment replays; returns its start."""
        codes = list(self._corpus)
        rates = 1 / self._seen[codes]
        code = codes[self._own.choice(len(codes), p=rates / rates.sum())]
        self._seen[code] += REPLAYED
        entry = self._corpus[code]
        self._scripts[slot] = entry.actions
        self._length[slot] += len(entry.actions)
        # at most one start is mutated, so that a refusal can be traced to it
        if self._mutated is not None or self._own.random() >= MUTATED:
            return entry.start
        self._mutated = slot, entry.start
        return self._mutate(entry)

    def _mutate(self, entry: CorpusEntry) -> State:
        """Mutate an entry's start one to four times: a seed, a field of another entry, a number, flag or shorter list.

        Numbers stay within the range that earlier starts had at that place, so that the state remains plausible. A seed
        is found in the state, and changed, only if it has more than 32 bits.
        """
        state: State = json_copy(entry.start)
        others = list(self._corpus.values())
        for _ in range(1 + self._below(4)):
            places = list(_places(state))
            kind = self._own.random()
            if kind < 0.3 and entry.seed > _WORD:  # a small number in a state may be anything else
                state = _reseeded(state, entry.seed, int(self._own.integers(2**64, dtype=np.uint64)) % self._seeds)
            elif kind < 0.6:
                other = others[self._below(len(others))].start
                name = list(other)[self._below(len(other))]
                state[name] = json_copy(other[name])
            elif places:
                holder, key, path = places[self._below(len(places))]
                value = holder[key]
                if isinstance(value, bool):
                    holder[key] = not value
                elif isinstance(value, int):
                    low, high = self._ranges.get(path, (value, value))
                    holder[key] = min(max((value - 1, value + 1, low, high)[self._below(4)], low), high)
                else:
                    del value[self._below(len(value))]
        return state

    def _below(self, count: int) -> int:
        return int(self._own.integers(count))

    def actions(self, view: View, rng: np.random.Generator, invalid: float, space: Box | None) -> NDArray[Any]:
        """Choose actions by policies and random action weights, or replay those of a segment's corpus entry."""
        self._read_states = view.read_states
        if self._is_directed:
            self._rows.append(super().actions(view, rng, invalid, space))
            return self._rows[-1]
        last = (self._taken >= self._length - 1) & ~self._has_found
        share = np.where(last, max(invalid, min(0.5, LAST_INVALID * invalid)), invalid)
        actions = choose_actions(rng, self.weights(view) * self._taste, view.mask, share, space)
        if space is None:
            wrong = np.flatnonzero(~view.mask[view.slots, actions] & view.mask.any(axis=1))
            weights = np.tile(1 / self._tried**2, (len(wrong), 1))  # prefers those that were rarely tried
            actions[wrong] = choose_actions(self._own, weights, ~view.mask[wrong], 0)
            np.add.at(self._tried, actions[wrong], 1)
        for slot, (taken, script) in enumerate(zip(self._taken.tolist(), self._scripts, strict=True)):
            if taken < len(script):
                actions[slot] = script[taken]
        self._rows.append(actions)
        return actions

    def watch(self, seen: Outputs) -> Slots:
        """Count features and save the starts that led to new ones; returns the slots whose segments are over."""
        assert seen.step is not None
        features = self._features.of_step(seen.expected, self._rows[-1], self._taken > 0)
        counts = self._seen[features]
        np.add.at(self._seen, features, 1)
        self._taken += 1
        self._credit += (1 / counts).sum(axis=1)
        new = counts == 1
        self._has_found |= new.any(axis=1) & ~seen.step.ended
        found = np.flatnonzero(new.any(axis=1) & (self._taken <= REMEMBERED) & ~seen.step.ended)
        for slot in found[:MOST_FOUND].tolist():
            start, rows = self._starts[slot], list(self._rows)[-int(self._taken[slot]) :]
            if start is None:
                (start,), rows = self._read_states(np.array([slot])), []
            self._note_ranges(start)
            entry = CorpusEntry(start, int(np.asarray(seen.expected["seed"])[slot]), tuple(row[slot] for row in rows))
            self._corpus |= dict.fromkeys(features[slot][new[slot]].tolist(), entry)
        self._stale = 0 if new.any() else self._stale + len(new)
        if self._is_directed and self._stale < STALE:
            return NO_SLOTS
        self._is_directed = False
        return np.flatnonzero((self._taken >= self._length) & ~seen.step.ended)

    def _note_ranges(self, state: State) -> None:
        for holder, key, path in _places(state):
            if isinstance(value := holder[key], int):
                low, high = self._ranges.get(path, (value, value))
                self._ranges[path] = min(low, value), max(high, value)


def _places(value: Any, path: str = "") -> Iterator[tuple[Any, Any, str]]:  # noqa: ANN401 - a JSON value
    """Yield the container, key and index-free path of every integer, flag and non-empty list in a value."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        name = f"{path}.{key}" if isinstance(value, dict) else f"{path}[]"
        if isinstance(inner, int) or (isinstance(inner, list) and inner):
            yield value, key, name
        if isinstance(inner, (dict, list)):
            yield from _places(inner, name)


def _reseeded(value: Any, old: int, new: int) -> Any:  # noqa: ANN401 - a JSON value
    """Copy a value with another seed, wherever the old one stands as an integer or as two 32-bit words, low first."""
    if isinstance(value, dict):
        return {key: _reseeded(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        is_seed = value == [old & _WORD, old >> 32]
        return [new & _WORD, new >> 32] if is_seed else [_reseeded(inner, old, new) for inner in value]
    return new if type(value) is int and value == old else value
