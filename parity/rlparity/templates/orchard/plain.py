"""The original: one object for each game, plain Python."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchard.rules import MARKS
from rlparity import BatchEngine, BatchStep, Draw, EngineOptions, Phase, State, StateRefused

SIDE = 4
WORD = 2**64
DIRECTIONS = ((-1, 0), (1, 0), (0, -1), (0, 1))
PICK, REST = 4, 5

PRICES = (-10, 100, -500)


def mix(value: int) -> int:
    """O-DRAW: splitmix64's finaliser."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % WORD
    return value ^ (value >> 31)


def draw(seed: int, turn: int, site: int) -> int:
    """O-DRAW: the word of an address."""
    return mix((seed + 0x9E3779B97F4A7C15 * (64 * turn + site + 1)) % WORD) >> 32


def neighbour(cell: int, direction: int) -> int | None:
    """The next cell in a direction, or None where the board ends."""
    row, column = cell // SIDE + DIRECTIONS[direction][0], cell % SIDE + DIRECTIONS[direction][1]
    return SIDE * row + column if 0 <= row < SIDE and 0 <= column < SIDE else None


@dataclass
class Game:
    """One game; ``apples`` maps cell to ripeness."""

    seed: int = 0
    walker: int = 0
    wasp: int = 0
    hp: int = 2
    score: int = 0
    turn: int = 0
    apples: dict[int, int] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MARKS, 0))
    prices: tuple[int, ...] = PRICES
    note: Callable[..., None] = lambda *_: None
    """Told the name of each phase of a step that ends, and the addresses from which it drew."""

    def start(self, seed: int) -> None:
        """O-START."""
        self.seed, self.hp, self.score, self.turn = seed, 2, 0, 0
        self.walker = draw(seed, 0, 1) % 16
        self.wasp = draw(seed, 0, 2) % 16
        if self.wasp == self.walker:
            self.wasp = (self.wasp + 1) % 16
        growing = [cell for cell in range(16) if cell != self.walker and draw(seed, 0, 16 + cell) % 4 == 0]
        self.apples = {cell: 1 + draw(seed, 0, 32 + cell) % 3 for cell in growing}
        self.marks["start"] += 1
        if not self.apples:
            self.apples = {(self.walker + 5) % 16: 1}
            self.marks["start.empty"] += 1

    def over(self) -> bool:
        """O-END."""
        return not self.apples or self.hp == 0

    def mask(self) -> list[bool]:
        """O-MOVE, O-PICK, O-REST, O-END."""
        if self.over():
            return [False] * 6
        return [*(neighbour(self.walker, way) is not None for way in range(4)), self.walker in self.apples, True]

    def step(self, action: int) -> tuple[list[int], bool]:
        """Components and whether the episode is over."""
        if not self.mask()[action]:
            self.marks["invalid"] += 1
            return [0, 0, 0], True
        fruit = self.act(action)
        self.note("walker")
        sting = self.fly()
        self.note("flight", (self.turn, 0))
        if self.over():
            self.marks["end.picked" if not self.apples else "end.dead"] += 1
        step, ripeness, hurt = self.prices
        return [step, ripeness * fruit, hurt * sting], self.over()

    def act(self, action: int) -> int:
        """O-MOVE, O-PICK, O-REST; the ripeness picked."""
        if action < PICK:
            self.marks["move"] += 1
            moved = neighbour(self.walker, action)
            assert moved is not None
            self.walker = moved
        elif action == REST:
            self.marks["rest"] += 1
            self.rest()
        else:
            self.marks["pick"] += 1
            ripeness = self.apples.pop(self.walker)
            self.score += ripeness
            return ripeness
        return 0

    def rest(self) -> None:
        """O-REST."""
        self.hp = min(3, self.hp + 1)

    def fly(self) -> int:
        """O-WASP, O-STING; the hp lost."""
        self.turn += 1
        self.marks["wasp"] += 1
        flown = neighbour(self.wasp, draw(self.seed, self.turn, 0) % 4)
        self.wasp = self.wasp if flown is None else flown
        if self.wasp != self.walker:
            return 0
        self.marks["sting"] += 1
        self.hp -= 1
        return 1

    def observation(self) -> NDArray[np.float32]:
        """(34,): hp/3, score/50 (at most 1), ripeness/3 of each cell, 1 for the walker or 0.5 for the wasp."""
        places = [0.0] * 16
        places[self.wasp] = 0.5
        places[self.walker] = 1.0
        fruit = [self.apples.get(cell, 0) / 3 for cell in range(16)]
        return np.array([self.hp / 3, min(1.0, self.score / 50), *fruit, *places], dtype=np.float32)

    def state(self) -> State:
        apples = [{"cell": cell, "ripeness": ripeness} for cell, ripeness in sorted(self.apples.items())]
        numbers = {name: getattr(self, name) for name in ("seed", "walker", "wasp", "hp", "score", "turn")}
        return {**numbers, "apples": apples}

    def take(self, state: State) -> None:
        for name in ("seed", "walker", "wasp", "hp", "score", "turn"):
            setattr(self, name, state[name])
        self.apples = {apple["cell"]: apple["ripeness"] for apple in state["apples"]}


def refuse_bad(state: State) -> None:
    """Raises StateRefused for what no game can be."""
    cells = [state["walker"], state["wasp"], *(apple["cell"] for apple in state["apples"])]
    if not all(0 <= cell < 16 for cell in cells):
        raise StateRefused("a cell lies outside 0 … 15.")
    if not 0 <= state["hp"] <= 3:
        raise StateRefused(f"hp {state['hp']} lies outside 0 … 3.")


class PlainEngine(BatchEngine):
    """Many Game objects in a list."""

    game: type[Game] = Game

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self.list = [self.game(prices=options.prices or PRICES) for _ in range(games)]
        self.counting = options.marks

    def reset(self, seeds: NDArray[np.uint64], slots: NDArray[np.intp]) -> NDArray[Any]:
        for slot, seed in zip(slots, seeds.tolist(), strict=True):
            self.list[slot].start(seed)
        return self.observations(slots)

    def restart(self, slots: NDArray[np.intp]) -> NDArray[Any]:
        for slot in slots:
            self.list[slot].marks["next"] += 1
            self.list[slot].start(mix(self.list[slot].seed))
        return self.observations(slots)

    def observations(self, slots: NDArray[np.intp]) -> NDArray[Any]:
        return np.stack([self.list[slot].observation() for slot in slots])

    def seeds(self) -> NDArray[np.uint64]:
        return np.array([game.seed for game in self.list], dtype=np.uint64)

    def mask(self) -> NDArray[np.bool_]:
        return np.array([game.mask() for game in self.list])

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        results = [game.step(action) for game, action in zip(self.list, actions.tolist(), strict=True)]
        components = np.array([earned for earned, _ in results], dtype=np.int32)
        return BatchStep(
            observation=self.observations(np.arange(self.games)),
            components=components,
            reward=components.sum(axis=1).astype(np.float32) / np.float32(1000),
            terminated=np.array([over for _, over in results]),
        )

    def get_state(self, slots: NDArray[np.intp]) -> list[State]:
        return [self.list[slot].state() for slot in slots]

    def set_state(self, states: Sequence[State], slots: NDArray[np.intp]) -> NDArray[Any]:
        for state in states:
            refuse_bad(state)
        for slot, state in zip(slots, states, strict=True):
            self.list[slot].take(state)
        return self.observations(slots)

    def marks(self) -> NDArray[np.integer[Any]] | None:
        return np.sum([list(game.marks.values()) for game in self.list], axis=0) if self.counting else None

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...]:
        game, phases = self.game(), []

        def note(name: str, *drawn: tuple[int, int]) -> None:
            words = tuple(Draw(address, draw(game.seed, *address)) for address in drawn)
            phases.append(Phase(name, game.state(), words))

        game.take(state)
        game.note = note
        game.step(int(actions[0]))
        return tuple(phases)
