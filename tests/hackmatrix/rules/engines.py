"""One small interface to both engines, on state dicts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from hackmatrix.prices import PRICES
from hackmatrix.rules import COMPONENTS, EVENTS
from hackmatrix.world import WORLD
from rlparity import BatchEngine, Slots

from .tables import PROGRAM_TABLE

StateDict = dict[str, Any]
Entry = dict[str, Any]
Place = tuple[int, int]
Json: TypeAlias = Any  # whatever a field may hold, mistakes included
PRICE = {price.name: price.default for price in PRICES}
"""The game's own prices in thousandths, by name."""
WIDTH = 8
"""Games of the JAX engine at once: the width whose programs other tests use, too."""
FLAGS = ("terminated", "stage_complete", "death", "victory", "invalid_action")


def places(entries: list[Entry]) -> list[Place]:
    return [(entry["row"], entry["col"]) for entry in entries]


def only(entries: list[Entry]) -> Entry:
    (entry,) = entries
    return entry


def at(entries: list[Entry], row: int, col: int) -> Entry:
    return only([entry for entry in entries if places([entry]) == [(row, col)]])


@dataclass(frozen=True)
class Outcome:
    """The state (dict S) after the last of some actions, and the result of its step."""

    state: StateDict
    components: dict[str, int]
    terminated: bool
    stage_complete: bool
    death: bool
    victory: bool
    invalid_action: bool

    @property
    def rewards(self) -> dict[str, int]:
        """The components that are not 0, without the step penalty."""
        return {name: value for name, value in self.components.items() if value and name != "step_penalty"}

    def __getitem__(self, names: str | tuple[str, ...]) -> Any:  # noqa: ANN401 - facts of any type
        facts = self.facts
        return facts[names] if isinstance(names, str) else tuple(facts[name] for name in names)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """All of it by name: numbers of S, places on the board, what stands in them, components and flags."""
        state, enemies = self.state, self.state["enemies"]
        lists = [name for name, value in state.items() if isinstance(value, list) and name != "ownedPrograms"]
        by_place = {
            "hps": ("enemies", "hp"),
            "kinds": ("enemies", "type"),
            "coming": ("transmissions", "turnsRemaining"),
            "spawns": ("blocks", "spawnCount"),
        }
        return {
            **state,
            **state["player"],
            **self.components,
            **{name: places(state[name]) for name in lists},
            **{
                name: {place: entry[field] for place, entry in zip(places(state[key]), state[key], strict=True)}
                for name, (key, field) in by_place.items()
            },
            "player": places([state["player"]])[0],
            "exit": places([state["exit"]])[0],
            "pickups": places([entry for entry in state["resources"] if entry["dataSiphon"]]),
            "amounts": {
                place: (entry["credits"], entry["energy"])
                for place, entry in zip(places(state["resources"]), state["resources"], strict=True)
                if entry["credits"] or entry["energy"]
            },
            "stunned": places([enemy for enemy in enemies if enemy["stunned"]]),
            "owned": " ".join(PROGRAM_TABLE[action - 5][0] for action in state["ownedPrograms"]),
            "rewards": self.rewards,
            "flags": " ".join(name for name in FLAGS if getattr(self, name)),
        }


@dataclass(frozen=True)
class Engine:
    """An engine by its name; longer lists of games are played in pieces."""

    name: str

    @cached_property
    def _games(self) -> BatchEngine:
        return WORLD.engines[self.name](WIDTH)

    def reset(self, seed: int) -> StateDict:
        return only(self.resets([seed]))

    def resets(self, seeds: Sequence[int]) -> list[StateDict]:
        made: list[StateDict] = []
        for start in range(0, len(seeds), WIDTH):
            piece = np.array(seeds[start : start + WIDTH], np.uint64)
            self._games.reset(piece, np.arange(len(piece)))
            made += self._games.get_state(np.arange(len(piece)))
        return made

    def complete(self, state: StateDict) -> StateDict:
        """The full form of a state dict: setState, then getState."""
        self._games.set_state([state], np.arange(1))
        return only(self._games.get_state(np.arange(1)))

    def play(self, state: StateDict, *actions: int) -> Outcome:
        (outcome,) = self.plays([state], *([action] for action in actions))
        return outcome

    def plays(self, states: Sequence[StateDict], *actions: Sequence[int]) -> list[Outcome]:
        """As ``play`` in each of some games; ``actions`` are those of all games, step by step."""
        outcomes = []
        for start, slots, _ in self._pieces(states):
            for of_games in actions:
                taken = np.zeros(WIDTH, np.int32)  # of the other games nothing is told
                taken[slots] = of_games[start : start + len(slots)]
                step = self._games.step(taken)
            assert step.events is not None
            for slot, state in zip(slots, self._games.get_state(slots), strict=True):
                components = dict(zip(COMPONENTS, step.components[slot].tolist(), strict=True))
                flags = {name: bool(step.events[slot] >> bit & 1) for bit, name in enumerate(EVENTS)}
                outcomes.append(Outcome(state, components, bool(step.terminated[slot]), **flags))
        return outcomes

    def mask(self, state: StateDict) -> list[bool]:
        return self._looks(state)[0][0]

    def observe(self, state: StateDict) -> NDArray[np.float32]:
        return self._looks(state)[0][1]

    def _looks(self, *states: StateDict) -> list[Any]:
        """The mask and the observation of each of some states."""
        looks: list[Any] = []
        for _, slots, seen in self._pieces(states):
            looks += zip(self._games.mask()[slots].tolist(), seen, strict=True)
        return looks

    def _pieces(self, states: Sequence[StateDict]) -> Iterator[tuple[int, Slots, Any]]:
        """Set some states at a time; yields the number of the first, their slots and their observations."""
        for start in range(0, len(states), WIDTH):
            piece = states[start : start + WIDTH]
            slots = np.arange(len(piece))
            yield start, slots, self._games.set_state(piece, slots)


ENGINES = {name: Engine(name) for name in ("jax", "swift")}
JAX, SWIFT = ENGINES.values()


@dataclass(frozen=True)
class Case:
    """A state, some actions, and facts after the last of them, by the names of ``Outcome.facts``."""

    start: StateDict
    actions: tuple[int, ...]
    expected: dict[str, Any]

    def seen_by(self, engine: Engine) -> dict[str, Any]:
        facts = engine.play(self.start, *self.actions).facts
        return {name: facts[name] for name in self.expected}


def case(what: str, start: StateDict, *actions: int, **expected: Json) -> Json:
    """A row of a table: a state, one or more actions, and what the last of them gives."""
    return pytest.param(Case(start, actions, expected), id=what)


def paid(**quantities: int) -> dict[str, Any]:
    """The components that pay for these quantities, at the game's own prices."""
    return {name: PRICE[name] * quantity for name, quantity in quantities.items()}


def cases(*rows: Json) -> pytest.MarkDecorator:
    """The table by which a test is run; its argument is called ``case``."""
    return pytest.mark.parametrize("case", rows)
