"""The port: all games at once, numpy arrays with the game as first axis. Shares no rule with the original."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchard.rules import MARKS
from rlparity import BatchEngine, BatchStep, EngineOptions, Phase, State, StateRefused

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
COLUMNS = tuple(MARKS)
CELLS = np.arange(16)


def mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """O-DRAW: splitmix64's finaliser."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def words(seeds: NDArray[np.uint64], address: NDArray[Any]) -> Ints:
    """O-DRAW: words of the addresses 64·turn + site; broadcasts."""
    offset = np.uint64(0x9E3779B97F4A7C15) * (address.astype(np.uint64) + np.uint64(1))
    return (mixed(seeds + offset) >> np.uint64(32)).astype(np.int64)


def moved(cells: Ints, ways: Ints) -> tuple[Ints, Flags]:
    """Cells one on in directions 0–3, and whether the board goes on there (else the cell is unchanged)."""
    rows = cells // 4 + np.array([-1, 1, 0, 0])[ways]
    columns = cells % 4 + np.array([0, 0, -1, 1])[ways]
    inside = (rows >= 0) & (rows <= 3) & (columns >= 0) & (columns <= 3)
    return np.where(inside, 4 * rows + columns, cells), inside


class PlanesEngine(BatchEngine):
    """Every field of the state is an array (games, …); ``fruit`` is (games, 16) ripeness."""

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self.seed = np.zeros(games, dtype=np.uint64)
        self.walker, self.wasp, self.hp, self.score, self.turn = (np.zeros(games, dtype=np.int64) for _ in range(5))
        self.fruit = np.zeros((games, 16), dtype=np.int64)
        self.note: Callable[[str], None] = lambda _: None
        self.counts = np.zeros(len(COLUMNS), dtype=np.int64)
        self.counting = options.marks
        self.prices = np.array(options.prices or (-10, 100, -500), np.int32)

    def count(self, mark: str, times: int) -> None:
        self.counts[COLUMNS.index(mark)] += times

    def reset(self, seeds: NDArray[np.uint64], slots: NDArray[np.intp]) -> NDArray[Any]:
        walker, wasp = words(seeds, np.array([1])) % 16, words(seeds, np.array([2])) % 16
        wasp = np.where(wasp == walker, (wasp + 1) % 16, wasp)
        apple = (words(seeds[:, None], 16 + CELLS) % 4 == 0) & (walker[:, None] != CELLS)
        bare = ~apple.any(axis=1)
        fruit = np.where(apple, 1 + words(seeds[:, None], 32 + CELLS) % 3, 0)
        fruit[bare, (walker[bare] + 5) % 16] = 1
        self.seed[slots], self.walker[slots], self.wasp[slots], self.fruit[slots] = seeds, walker, wasp, fruit
        self.hp[slots], self.score[slots], self.turn[slots] = 2, 0, 0
        self.count("start", len(slots))
        self.count("start.empty", int(bare.sum()))
        return self.observe()[slots]

    def restart(self, slots: NDArray[np.intp]) -> NDArray[Any]:
        self.count("next", len(slots))
        return self.reset(mixed(self.seed[slots]), slots)

    def seeds(self) -> NDArray[np.uint64]:
        return self.seed.copy()

    def over(self) -> Flags:
        return (self.hp == 0) | ~self.fruit.any(axis=1)

    def mask(self) -> Flags:
        ways = [moved(self.walker, np.full(self.games, way))[1] for way in range(4)]
        here = self.fruit[np.arange(self.games), self.walker] > 0
        return np.stack([*ways, here, np.ones(self.games, dtype=bool)], axis=1) & ~self.over()[:, None]

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        games = np.arange(self.games)
        valid = self.mask()[games, actions]
        moving, picking, resting = valid & (actions < 4), valid & (actions == 4), valid & (actions == 5)
        picked = np.where(picking, self.fruit[games, self.walker], 0)
        self.fruit[games[picking], self.walker[picking]] = 0
        self.score += picked
        self.hp = np.where(resting, np.minimum(3, self.hp + 1), self.hp)
        self.walker = np.where(moving, moved(self.walker, actions.astype(np.int64) % 4)[0], self.walker)
        self.note("walker")
        self.turn += valid
        flown, _ = moved(self.wasp, words(self.seed, 64 * self.turn) % 4)
        self.wasp = np.where(valid, flown, self.wasp)
        stung = valid & (self.wasp == self.walker)
        self.hp -= stung
        self.note("flight")
        over = self.over()
        ending = valid & over
        for mark, which in (
            ("move", moving),
            ("pick", picking),
            ("rest", resting),
            ("invalid", ~valid),
            ("wasp", valid),
            ("sting", stung),
            ("end.picked", ending & ~self.fruit.any(axis=1)),
            ("end.dead", ending & self.fruit.any(axis=1)),
        ):
            self.count(mark, int(which.sum()))
        components = (np.stack([valid, picked, stung], axis=1) * self.prices).astype(np.int32)
        reward = components.sum(axis=1).astype(np.float32) / np.float32(1000)
        return BatchStep(self.observe(), components, reward, over | ~valid)

    def observe(self) -> NDArray[np.float32]:
        games = np.arange(self.games)
        places = np.zeros((self.games, 16))
        places[games, self.wasp] = 0.5
        places[games, self.walker] = 1.0
        head = np.stack([self.hp / 3, np.minimum(1, self.score / 50)], axis=1)
        return np.concatenate([head, self.fruit / 3, places], axis=1).astype(np.float32)

    def get_state(self, slots: NDArray[np.intp]) -> list[State]:
        return [self.state(int(slot)) for slot in slots]

    def state(self, slot: int) -> State:
        apples = [
            {"cell": int(cell), "ripeness": int(self.fruit[slot, cell])} for cell in np.flatnonzero(self.fruit[slot])
        ]
        names = ("seed", "walker", "wasp", "hp", "score", "turn")
        return {**{name: int(getattr(self, name)[slot]) for name in names}, "apples": apples}

    def set_state(self, states: Sequence[State], slots: NDArray[np.intp]) -> NDArray[Any]:
        for state in states:
            places = [state["walker"], state["wasp"], *(apple["cell"] for apple in state["apples"])]
            if min(places) < 0 or max(places) > 15 or not 0 <= state["hp"] <= 3:
                raise StateRefused("cells are 0 … 15 and hp 0 … 3.")
        for slot, state in zip(slots, states, strict=True):
            for name in ("seed", "walker", "wasp", "hp", "score", "turn"):
                getattr(self, name)[slot] = state[name]
            self.fruit[slot] = 0
            for apple in state["apples"]:
                self.fruit[slot, apple["cell"]] = apple["ripeness"]
        return self.observe()[slots]

    def state_arrays(self) -> Mapping[str, NDArray[Any]] | None:
        names = ("seed", "walker", "wasp", "hp", "score", "turn", "fruit")
        return {name: getattr(self, name) for name in names}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return self.counts if self.counting else None

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...]:
        """Without the words that were drawn, of which no array tells where they mattered."""
        alone, phases = PlanesEngine(1), []
        alone.set_state([state], np.zeros(1, np.intp))
        valid = bool(alone.mask()[0, actions[0]])
        alone.note = lambda name: phases.append(Phase(name, alone.state(0))) if valid else None
        alone.step(actions)
        return tuple(phases)
