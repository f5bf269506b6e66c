"""Names, orders and sizes of Goodharts, the numbers that a configuration may change, and the states of a game (G).

All Python code takes the counts of actions, components and modes from here. Their use is not here: each engine has its
own tables, so that a comparison of the engines can find a wrong one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rlparity.errors import StateRefused, UsageError

VERSION = "1"
"""Version of the rules; it changes whenever the same seed and actions could give another game."""

SIZE = 128
"""Rows and columns of the grid, which is a torus (G1)."""
NUM_CELLS = SIZE * SIZE
EMPTY, FOOD, POISON = 0, 1, 2
"""Contents of a cell (G1)."""

REACH = 5
"""Cells in view to each side of an agent (G7)."""
VIEW = 2 * REACH + 1
OBSERVATION_SHAPE = (2, VIEW, VIEW)

MOVES = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
"""Changes of x and y by actions 0-7 (G4)."""
ACTIONS = ("up_left", "left", "down_left", "up", "down", "up_right", "right", "down_right")
"""Names of the actions, with y growing downwards."""
COMPONENTS = ("step", "food", "poison", "death", "shaping")
"""Components of the reward, in the order of G12; integers in hundred-thousandths."""
COMPONENT_UNIT = 1e-5

FACTS = ("energy", "steps")
"""Facts of a game besides its observation: energy in thousandths, and steps of this life."""
EVENTS = ("ate_food", "ate_poison", "death")
"""Events of a step."""

STATE_FIELDS = ("food", "poison", "x", "y", "energy", "steps", "event", "key", "foodCount", "poisonCount")
"""The keys of a complete state (G13)."""
_WORD = 2**32 - 1
_RANGES = {
    **dict.fromkeys(("x", "y"), (0, SIZE - 1)),
    "energy": (-(2**63), 2**63 - 1),
    "steps": (0, 2**63 - 1),
    "event": (0, _WORD),
    **dict.fromkeys(("foodCount", "poisonCount"), (0, NUM_CELLS - 1)),
}
"""Ranges of a state's numbers."""

MOST_ITEMS = 16_000
"""Most food and poison together in an episode: placing so many takes about 61,500 draws, and the site has addresses for
twice as many (G10), which would not be enough for all cells of the grid."""


@dataclass(frozen=True)
class Numbers:
    """Numbers of the world that a configuration may change, as integers (G9); the defaults are the rules'.

    Energies and interestingness are in thousandths, and the clip of the reward is in hundred-thousandths.
    min_food … max_poison: ranges of an episode's counts (G3). max_steps: steps until an episode is truncated (G5).
    evaluation_food, evaluation_poison: the counts of an evaluation. The range of each is that of its setting; raises
    UsageError for counts that contradict each other or are too large together.
    """

    start_energy: int = 1000
    step_energy: int = 10
    food_energy: int = 1000
    poison_energy: int = -2000
    food_interest: int = 1000
    poison_interest: int = 500
    reward_clip: int = 2_000_000
    max_steps: int = 512
    min_food: int = 64
    max_food: int = 256
    min_poison: int = 64
    max_poison: int = 256
    evaluation_food: int = 128
    evaluation_poison: int = 128

    def __post_init__(self) -> None:
        for least, most in (("min_food", "max_food"), ("min_poison", "max_poison")):
            low, high = getattr(self, least), getattr(self, most)
            if low > high:
                raise UsageError(f"{least} is {low} and {most} {high}: the least must not be above the most.")
        for evaluating, names in ((False, "max_food and max_poison"), (True, "evaluation_food and evaluation_poison")):
            items = self.most_items(evaluating)
            if items > MOST_ITEMS:
                raise UsageError(f"{names} are {items:,} together: a grid is given at most {MOST_ITEMS:,} items.")

    def most_items(self, evaluating: bool) -> int:
        """Most food and poison together in an episode (G3)."""
        return self.evaluation_food + self.evaluation_poison if evaluating else self.max_food + self.max_poison


DEFAULT_NUMBERS = Numbers()


@dataclass(frozen=True)
class Mode:
    """A mode: an agent's view, its reward, and whether it can die in training.

    sees_truth: the observation tells food from poison (G7). rewarded_for: ``energy``, ``interest`` or
    ``handhold`` (G12). is_mortal: in training (G5); in an evaluation all agents are. is_default: part of ``all``.
    """

    name: str
    sees_truth: bool
    rewarded_for: Literal["energy", "interest", "handhold"]
    is_mortal: bool = True
    is_default: bool = True


MODES = {
    mode.name: mode
    for mode in (
        Mode("ground_truth", sees_truth=True, rewarded_for="energy"),
        Mode("ground_truth_blinded", sees_truth=False, rewarded_for="energy"),
        Mode("proxy_mortal", sees_truth=False, rewarded_for="interest"),
        Mode("proxy", sees_truth=False, rewarded_for="interest", is_mortal=False),
        Mode("ground_truth_handhold", sees_truth=True, rewarded_for="handhold", is_default=False),
    )
}
DEFAULT_MODE = "ground_truth"
DEFAULT_MODES = tuple(mode.name for mode in MODES.values() if mode.is_default)


def marks_of(mode: Mode, *, evaluating: bool = False) -> dict[str, str]:
    """The marks that an engine counts while this mode is trained or evaluated -> the rule id that each belongs to."""
    names = "G3.place G3.drawn_again G4.move G4.wrap_column G4.wrap_row G5.food G5.poison".split()
    names += "G5.reappear_later_draw G5.reappear_lowest_cell G5.truncated G6.restart".split()
    names += "G7.look G7.over_the_edge G12.reward".split()
    names += (
        ["G5.starved", "G5.poisoned", "G5.terminated_and_truncated"] if mode.is_mortal or evaluating else ["G5.frozen"]
    )
    if mode.rewarded_for == "handhold":
        names += [f"G9.food_at_{distance}" for distance in range(1, REACH + 1)]
        names += ["G9.no_food_in_view", "G9.none_on_termination"]
    return {name: name.split(".")[0] for name in names}


def refuse_impossible(state: Mapping[str, Any]) -> None:
    """Raise StateRefused, one sentence that names the field and the fault, for a state that breaks a rule or range."""
    if not isinstance(state, Mapping):
        raise StateRefused(f"a state must be an object with named fields, not {type(state).__name__}.")
    fields = ", ".join(STATE_FIELDS)
    if missing := [name for name in STATE_FIELDS if name not in state]:
        raise StateRefused(f"the state has no {missing[0]}: give all of {fields}.")
    if unknown := [name for name in state if name not in STATE_FIELDS]:
        raise StateRefused(f"the state has an unknown field {unknown[0]!r}: give {fields}.")
    food, poison = (_cells(name, state[name]) for name in ("food", "poison"))
    for name, (low, high) in _RANGES.items():
        _whole_number(name, state[name], low, high)
    key = state["key"]
    if not isinstance(key, (list, tuple)) or len(key) != 2:
        raise StateRefused(f"key must be two 32-bit words, not {key!r:.60}.")
    for index, word in enumerate(key):
        _whole_number(f"key[{index}]", word, 0, _WORD)
    for name, there in (("foodCount", len(food)), ("poisonCount", len(poison))):
        if state[name] != there:
            raise StateRefused(f"{name} is {state[name]}, but there are {there}: what is eaten reappears (G5).")
    if both := food & poison:
        raise StateRefused(f"cell {min(both)} holds food and poison: a cell holds one thing.")
    agent = SIZE * state["y"] + state["x"]
    if agent in food | poison:
        raise StateRefused(f"the agent's cell {agent} must be empty: what it holds is eaten at once (G5).")


def _cells(name: str, cells: object) -> set[int]:
    if not isinstance(cells, (list, tuple)):
        raise StateRefused(f"{name} must be a list of cells, not {cells!r:.60}.")
    for index, cell in enumerate(cells):
        _whole_number(f"{name}[{index}]", cell, 0, NUM_CELLS - 1)
        if index and cell <= cells[index - 1]:
            raise StateRefused(
                f"{name}[{index}] is {cell} after {cells[index - 1]}: cells stand in ascending order, once each."
            )
    return set(cells)


def _whole_number(name: str, value: object, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise StateRefused(f"{name} must be a whole number in {low} … {high}, not {value!r:.60}.")
