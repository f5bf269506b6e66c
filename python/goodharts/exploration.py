"""Start states and policies of directed runs, which reach what ordinary play seldom does, and shrinkers of states.

Start states are dicts of G13 within its ranges; a policy weights actions by what the agent observes.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from goodharts.rules import ACTIONS, DEFAULT_NUMBERS, MOVES, NUM_CELLS, REACH, SIZE, VIEW
from rlparity import Policy, StartMaker, State, View
from rlparity.shrinkers import nearer_to_0, smaller_numbers, without_parts
from rlparity.threefry import threefry2x32

Weights = NDArray[np.float64]
Cells = NDArray[np.bool_]

_FAR = 99
_REACH = np.arange(-REACH, REACH + 1)
_DISTANCES = np.stack([np.maximum(abs(_REACH[:, None] - dy), abs(_REACH[None, :] - dx)) for dx, dy in MOVES])
"""King's distances from where each move leads to each cell in view, (8, 11, 11)."""
_TURNS = (2, 4, 7, 6, 5, 3, 0, 1)
"""The eight moves, each turned by 45° from the one before, so that together they lead back to the start."""
_SELDOM = 0.02
"""Weight of a move that a policy avoids."""
_WORDS = 2**32
_ITEMS = (0, 1, 8, 64, 256)
"""Counts of food or of poison: none, few, and those of new episodes."""
_DRAWS, _REAPPEAR = 64, 4
"""Draws that look for a new place for an eaten item, and their site (G5, G10)."""


def cell_at(x: int, y: int) -> int:
    """The cell at a column and row, around the torus (G1)."""
    return y % SIZE * SIZE + x % SIZE


def _ring(x: int, y: int, distance: int) -> set[int]:
    """The cells at a king's distance from a place."""
    reach = range(-distance, distance + 1)
    return {cell_at(x + dx, y + dy) for dx in reach for dy in reach if max(abs(dx), abs(dy)) == distance}


def _below(rng: np.random.Generator, count: int) -> int:
    return int(rng.integers(count))


def _drawn(rng: np.random.Generator, count: int, but: Iterable[int] = ()) -> set[int]:
    """Draw ``count`` cells, none of ``but``."""
    free = np.setdiff1d(np.arange(NUM_CELLS), list(but))
    return set(rng.choice(free, count, replace=False).tolist())


def _made(rng: np.random.Generator, place: tuple[int, int], food: set[int], poison: set[int], **other: int) -> State:
    """A state with these items, the agent's cell emptied; energy, steps and event as ``other`` says."""
    x, y = place
    here = {cell_at(x, y)}
    kept_food, kept_poison = sorted(food - here), sorted(poison - food - here)
    steps = other.get("steps", _below(rng, DEFAULT_NUMBERS.max_steps - 10))
    return {
        "food": kept_food,
        "poison": kept_poison,
        "x": x,
        "y": y,
        "energy": other.get("energy", 1000 + _below(rng, 20_000)),
        "steps": steps,
        "event": other.get("event", steps + _below(rng, 10_000)),
        "key": [_below(rng, _WORDS), _below(rng, _WORDS)],
        "foodCount": len(kept_food),
        "poisonCount": len(kept_poison),
    }


def _anywhere(rng: np.random.Generator) -> tuple[int, int]:
    return _below(rng, SIZE), _below(rng, SIZE)


def _around(rng: np.random.Generator, place: tuple[int, int]) -> tuple[set[int], set[int]]:
    """Dense food and poison within view and a little beyond."""
    near = np.array([cell for distance in range(1, REACH + 3) for cell in sorted(_ring(*place, distance))])
    kinds = rng.choice(3, len(near), p=(0.5, 0.25, 0.25))
    return set(near[kinds == 1].tolist()), set(near[kinds == 2].tolist())


def scattered(rng: np.random.Generator) -> State:
    """Any number of items that an episode may have, and fewer, in mid-life."""
    place = _anywhere(rng)
    food, poison = (_drawn(rng, int(rng.choice(_ITEMS))) for _ in range(2))
    return _made(rng, place, food, poison)


def plenty(rng: np.random.Generator) -> State:
    """Items at every other step."""
    place = _anywhere(rng)
    return _made(rng, place, *_around(rng, place))


def crowded(rng: np.random.Generator) -> State:
    """Hardly an empty cell, or none: no draw finds one, so an eaten item reappears in the lowest empty cell (G5)."""
    place = _anywhere(rng)
    items = int(rng.choice((NUM_CELLS - 1, NUM_CELLS - 2, NUM_CELLS - 40)))
    taken = _drawn(rng, items, {cell_at(*place)})
    food = set(rng.choice(sorted(taken), _below(rng, items + 1), replace=False).tolist())
    return _made(rng, place, food, taken - food, energy=10**6)


def last_draws(rng: np.random.Generator) -> State:
    """Items on every side, which reappear at an early draw, at one of the last draws, or at none (G5)."""
    x, y = place = _anywhere(rng)
    beside = [cell_at(x + dx, y + dy) for dx, dy in MOVES]
    of_food = _below(rng, len(beside) + 1)
    state = _made(rng, place, set(beside[:of_food]), set(beside[of_food:]))
    key, pairs = np.array(state["key"], np.uint32), np.arange(_DRAWS // 2, dtype=np.uint32)
    events = np.full_like(pairs, state["event"] + 1)
    both = threefry2x32((key[:1], key[1:]), (events, _REAPPEAR * 2**16 + pairs))
    cells = (np.stack(both, axis=1).flatten() >> 18).tolist()
    taken = int(rng.choice((1, 2, _DRAWS // 2, _DRAWS - 3, _DRAWS - 2, _DRAWS - 1, _DRAWS)))
    free = {cell_at(x, y), *state["food"], *cells[taken : taken + 1]}
    poison = sorted({*state["poison"], *cells[:taken]} - free)
    return {**state, "poison": poison, "poisonCount": len(poison)}


def on_the_edge(rng: np.random.Generator) -> State:
    """The agent near the edges, with items on the other side of them (G1, G7)."""
    place = int(rng.choice((0, 1, REACH - 1, SIZE - REACH, SIZE - 1))), int(rng.choice((0, REACH, SIZE - 1)))
    turned = place if rng.random() < 0.5 else place[::-1]
    return _made(rng, turned, *_around(rng, turned))


def starving(rng: np.random.Generator) -> State:
    """Energy for a few steps, none, or less, so that the next item can decide about death (G5)."""
    place = _anywhere(rng)
    energy = int(rng.choice((-2000, 0, 1, 9, 10, 11, 20, 30, 1000, 1010, 2000, 2010, 2011, 2020)))
    return _made(rng, place, *_around(rng, place), energy=energy)


def poisonous(rng: np.random.Generator) -> State:
    """Poison on every side."""
    place = _anywhere(rng)
    food, poison = _around(rng, place)
    beside = {cell_at(place[0] + dx, place[1] + dy) for dx, dy in MOVES}
    return _made(rng, place, food - beside, poison | beside, energy=int(rng.choice((1000, 2010, 2011, 5000))))


def last_steps(rng: np.random.Generator) -> State:
    """About to be truncated, or past it (G5)."""
    place = _anywhere(rng)
    return _made(rng, place, *_around(rng, place), steps=DEFAULT_NUMBERS.max_steps - 4 + _below(rng, 5))


def last_gasp(rng: np.random.Generator) -> State:
    """One step before truncation, with so little energy that the agent may die in the same step (G5)."""
    place = _anywhere(rng)
    near = _around(rng, place) if rng.random() < 0.5 else (set[int](), set[int]())
    energy = int(rng.choice((1, 10, 11, 2000)))
    return _made(rng, place, *near, steps=DEFAULT_NUMBERS.max_steps - 1, energy=energy)


def beckoning(rng: np.random.Generator) -> State:
    """The nearest food at a distance of 1 … 5, just out of view, or nowhere (G9), among poison."""
    place = _anywhere(rng)
    distance = 1 + _below(rng, REACH + 2)
    ring = sorted(_ring(*place, distance))
    food = {ring[_below(rng, len(ring))]} if distance <= REACH + 1 else set[int]()
    return _made(rng, place, food, _around(rng, place)[1])


def extreme(rng: np.random.Generator) -> State:
    """Numbers at the ends of their ranges; the event is about to wrap (G10)."""
    place = _anywhere(rng)
    state = _made(rng, place, *_around(rng, place), energy=int(rng.choice((10**9, 2**40, -(2**40)))))
    ends = (0, 1, 2**31 - 1, 2**31, _WORDS - 1)
    event = _WORDS - 1 - _below(rng, 4) if rng.random() < 0.5 else 2**31 - 2 + _below(rng, 4)
    return {**state, "event": event, "key": [int(rng.choice(ends)), int(rng.choice(ends))]}


_MAKERS = [scattered, plenty, crowded, last_draws, on_the_edge, starving]
_MAKERS += [poisonous, last_steps, last_gasp, beckoning, extreme]
STARTS: Mapping[str, StartMaker] = {make.__name__: make for make in _MAKERS}


def eat(view: View) -> Weights:
    """Goes for food and around poison: lives long."""
    food, poison = _kinds(view)
    return np.where(_lands_on(poison), _SELDOM / 10, _towards(food))


def seek_poison(view: View) -> Weights:
    """Goes for poison: dies of it."""
    _, poison = _kinds(view)
    return _towards(poison)


def starve(view: View) -> Weights:
    """Eats nothing, as long as there is a way around."""
    food, poison = _kinds(view)
    return np.where(_lands_on(food | poison), _SELDOM, 1.0)


def wander(view: View) -> Weights:
    """Moves in one direction, which depends on the game, and so over the edges."""
    return np.where(view.slots[:, None] % len(ACTIONS) == np.arange(len(ACTIONS)), 1.0, _SELDOM)


def circle(view: View) -> Weights:
    """Turns a little at every step, and so walks in circles."""
    events = np.array([state["event"] for state in view.states()])
    return np.where(np.take(_TURNS, events % len(_TURNS))[:, None] == np.arange(len(ACTIONS)), 1.0, _SELDOM)


POLICIES: Mapping[str, Policy] = {each.__name__: each for each in (eat, seek_poison, starve, wander, circle)}


def _kinds(view: View) -> tuple[Cells, Cells]:
    """Food and poison in view, each (k, 11, 11): from one channel each, or from the interest in both channels (G7)."""
    first, second = view.observation[:, 0], view.observation[:, 1]
    interests = DEFAULT_NUMBERS.food_interest, DEFAULT_NUMBERS.poison_interest
    food, poison = ((first == second) & (first == np.float32(interest / 1000)) for interest in interests)
    return food | (first > second), poison | (first < second)


def _towards(wanted: Cells) -> Weights:
    """Prefer the moves that lead nearest to a wanted cell; all moves where none is in view."""
    distances = np.where(wanted[:, None], _DISTANCES, _FAR).min(axis=(2, 3))
    return np.where(distances == distances.min(axis=1, keepdims=True), 1.0, _SELDOM)


def _lands_on(cells: Cells) -> Cells:
    """The moves that lead onto one of these cells, (k, 8)."""
    middle = VIEW // 2
    return np.stack([cells[:, middle + dy, middle + dx] for dx, dy in MOVES], axis=1)


def fewer_items(state: State) -> Iterator[State]:
    """Remove some of the food or of the poison."""
    for name, count in (("food", "foodCount"), ("poison", "poisonCount")):
        yield from ({**state, name: kept, count: len(kept)} for kept in without_parts(state[name]))


def smaller_key(state: State) -> Iterator[State]:
    """Move one word of the key nearer to 0."""
    low, high = state["key"]
    yield from ({**state, "key": [low, word]} for word in nearer_to_0(high))
    yield from ({**state, "key": [word, high]} for word in nearer_to_0(low))


SHRINKERS = (fewer_items, smaller_numbers, smaller_key)
