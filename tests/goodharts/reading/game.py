"""One game: where things lie, a step, what follows an end, and what it earns (G1-G6, G9, G12)."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from .randomness import FOOD_COUNT, PLACE, POISON_COUNT, REAPPEAR, RESPAWN, Pair, from_range, word

EMPTY, FOOD, POISON = 0, 1, 2
SIDE = 128
CELLS = SIDE * SIDE
MOVES = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
ATTEMPTS = 64
POTENTIALS = {1: 333, 2: 200, 3: 143, 4: 111, 5: 91}
RINGS = {
    distance: [
        (dx, dy)
        for dx in range(-distance, distance + 1)
        for dy in range(-distance, distance + 1)
        if max(abs(dx), abs(dy)) == distance
    ]
    for distance in POTENTIALS
}
"""The cells at each king's distance, from where one stands."""


PRICES = {
    "ground_truth": (-1000, 100_000, -200_000, -400_000),
    "ground_truth_blinded": (-1000, 100_000, -200_000, -400_000),
    "proxy_mortal": (0, 100_000, 50_000, 0),
    "proxy": (0, 100_000, 50_000, 0),
    "ground_truth_handhold": (-1000, 100_000, -100_000, -200_000),
}
"""Of a step, food, poison and a death in each mode (G12), in hundred-thousandths."""

SEES_TRUTH = {"ground_truth", "ground_truth_handhold"}
SHAPED = {"ground_truth_handhold"}
FROZEN = {"proxy"}


@dataclass(frozen=True)
class Outcome:
    """The result of a step: five components in hundred-thousandths (G12), and how it ended."""

    components: tuple[int, int, int, int, int]
    reward: int
    terminated: bool
    truncated: bool
    ate: int


@dataclass
class Game:
    """One game; ``grid`` says what each cell holds, and ``marks`` counts which rules fired.

    ``numbers``: of the world, by the names of its settings (G9). ``prices``: of a step, food, poison and a death; None:
    the game's own.
    """

    mode: str
    key: Pair
    numbers: Any
    evaluating: bool = False
    x: int = 0
    y: int = 0
    energy: int = 0
    steps: int = 0
    event: int = 0
    grid: bytearray = field(default_factory=lambda: bytearray(CELLS))
    food_count: int = 0
    poison_count: int = 0
    marks: Counter[str] = field(default_factory=Counter)
    prices: tuple[int, ...] | None = None

    @property
    def cell(self) -> int:
        """G1."""
        return SIDE * self.y + self.x

    @property
    def frozen(self) -> bool:
        """Energy never changes: only while training (G5)."""
        return self.mode in FROZEN and not self.evaluating

    def start(self) -> None:
        """The first placement, with the draws of event 0 (G10)."""
        self.event = 0
        self.place()

    def place(self) -> None:
        """A new episode, with the draws of this step's event (G3, G6)."""
        numbers = self.numbers
        if self.evaluating:
            self.food_count, self.poison_count = numbers.evaluation_food, numbers.evaluation_poison
        else:
            self.food_count = from_range(self._word(FOOD_COUNT, 0), numbers.min_food, numbers.max_food)
            self.poison_count = from_range(self._word(POISON_COUNT, 0), numbers.min_poison, numbers.max_poison)
        places: dict[int, None] = {}  # keeps the order of first appearance
        draws = 0
        while len(places) < self.food_count + self.poison_count + 1:
            places[self._word(PLACE, draws) >> 18] = None
            draws += 1
        self.marks["G3.place"] += 1
        self.marks["G3.drawn_again"] += draws > len(places)
        *items, agent = places
        self.grid = bytearray(CELLS)
        for number, cell in enumerate(items):
            self.grid[cell] = FOOD if number < self.food_count else POISON
        self._put_agent(agent)

    def restart(self) -> None:
        """Begin the episode that follows an end in training (G6)."""
        self.marks["G6.restart"] += 1
        self.place()

    def respawn(self) -> None:
        """A new life on the same grid, as evaluations go on (G6)."""
        self._put_agent(self._first_empty(RESPAWN))

    def step(self, action: int) -> Outcome:
        """One action (G4, G5); nothing starts anew."""
        potential = self.potential()
        self.event = (self.event + 1) % 2**32
        self._move(*MOVES[action])
        self._spend(-self.numbers.step_energy)
        ate = self._eat()
        self.steps += 1
        terminated = not self.frozen and self.energy <= 0
        truncated = not self.evaluating and self.steps >= self.numbers.max_steps
        components = self._components(ate, terminated, potential)
        clip = self.numbers.reward_clip
        self._mark_step(ate, terminated, truncated, potential)
        return Outcome(components, min(max(sum(components), -clip), clip), terminated, truncated, ate)

    def potential(self) -> int:
        """Φ by the king's distance to the nearest food in view, in thousandths (G9); 0 where nobody is paid for it."""
        if self.mode not in SHAPED:
            return 0
        for distance, value in POTENTIALS.items():
            if any(self.at(dx, dy) == FOOD for dx, dy in RINGS[distance]):
                return value
        return 0

    def at(self, dx: int, dy: int) -> int:
        """The content of the cell that is so far from the agent (G1)."""
        return self.grid[SIDE * ((self.y + dy) % SIDE) + (self.x + dx) % SIDE]

    def _word(self, site: int, index: int) -> int:
        return word(self.key, self.event, site, index)

    def _put_agent(self, cell: int) -> None:
        self.y, self.x = divmod(cell, SIDE)
        self.energy, self.steps = self.numbers.start_energy, 0

    def _move(self, dx: int, dy: int) -> None:
        self.marks["G4.move"] += 1
        self.marks["G4.wrap_column"] += not 0 <= self.x + dx < SIDE
        self.marks["G4.wrap_row"] += not 0 <= self.y + dy < SIDE
        self.x, self.y = (self.x + dx) % SIDE, (self.y + dy) % SIDE

    def _spend(self, energy: int) -> None:
        if not self.frozen:
            self.energy += energy

    def _eat(self) -> int:
        """Eat EMPTY, FOOD or POISON; another one of it reappears."""
        eaten = self.grid[self.cell]
        if eaten != EMPTY:
            self._spend(self.numbers.food_energy if eaten == FOOD else self.numbers.poison_energy)
            self.grid[self.cell] = EMPTY
            self.grid[self._first_empty(REAPPEAR, but=self.cell)] = eaten
        return eaten

    def _first_empty(self, site: int, but: int | None = None) -> int:
        """The first empty cell of 64 draws, else the lowest (G5, G6)."""
        for index in range(ATTEMPTS):
            cell = self._word(site, index) >> 18
            if self.grid[cell] == EMPTY and cell != but:
                self.marks["G5.reappear_later_draw"] += site == REAPPEAR and index > 0
                return cell
        self.marks["G5.reappear_lowest_cell"] += site == REAPPEAR
        return next(cell for cell in range(CELLS) if self.grid[cell] == EMPTY and cell != but)

    def _components(self, ate: int, died: bool, potential_before: int) -> tuple[int, int, int, int, int]:
        """Step, food, poison, death, shaping (G12)."""
        step, food, poison, death = self.prices or PRICES[self.mode]
        shaping = 99 * (0 if died else self.potential()) - 100 * potential_before
        return step, food * (ate == FOOD), poison * (ate == POISON), death * died, shaping

    def _mark_step(self, ate: int, terminated: bool, truncated: bool, potential_before: int) -> None:
        happened = {
            "G5.food": ate == FOOD,
            "G5.poison": ate == POISON,
            "G5.starved": terminated and ate != POISON,
            "G5.poisoned": terminated and ate == POISON,
            "G5.truncated": truncated and not terminated,
            "G5.terminated_and_truncated": truncated and terminated,
            "G5.frozen": self.frozen,
            "G9.no_food_in_view": potential_before == 0,
            **{f"G9.food_at_{at}": potential_before == value for at, value in POTENTIALS.items()},
            "G9.none_on_termination": terminated,
            "G12.reward": True,
        }
        self.marks.update(name for name, did in happened.items() if did)
