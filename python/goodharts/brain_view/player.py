"""Lets one trained agent live by the rules of an evaluation, and shows each of its moments (G6, G7)."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from goodharts.agents import agent_of
from goodharts.models import Model
from goodharts.rules import EVENTS, MODES, SIZE, Numbers
from goodharts.world import evaluation_world, game_seeds
from rlparity import State
from rlparity.engine import Array
from rlworldkit.watch.frames import AgentPlayer, Decision, decide

HORIZON = 15
"""Cells of the grid to each side of the agent in a moment; the agent itself sees less (G7)."""
REMEMBERED = 240
"""Number of the latest moments whose energies a moment has."""

_TRAIL = 24
_ALL = np.arange(1)
_NOTHING = (False,) * len(EVENTS)

Activation = tuple[str, NDArray[np.float32]]
"""A layer of the policy, and what it made of the observation: (depth, 11, 11) or (units,)."""


class Sample(NamedTuple):
    """The energy at one of the latest moments, and the life it belonged to."""

    life: int
    energy: float


@dataclass(frozen=True, eq=False)
class ActivationFrame:
    """One frame of a brain view: an agent that has decided what to do next. A dead one will not do it.

    state: complete (G13). channels: float32 (2, 11, 11), its observation (G7).
    activations: layer by layer, the last being the logits.
    decision: what it does next, how likely each action was, and what its critic expects, in units of reward.
    trail: where it was in its latest steps of this life, as (dx, dy) from where it is, oldest first.
    energies: at the latest moments, oldest first, now the last.
    life: counted from 1; steps: of all lives. deaths, food, poison: in all lives.
    ate_food, ate_poison: in the step that led here. is_dead: it killed it, and the next moment is another life.
    """

    state: State
    channels: NDArray[np.float32]
    activations: tuple[Activation, ...]
    decision: Decision
    trail: tuple[tuple[int, int], ...]
    energies: tuple[Sample, ...]
    life: int
    steps: int
    deaths: int
    food: int
    poison: int
    ate_food: bool
    ate_poison: bool
    is_dead: bool

    ending: ClassVar[str | None] = None
    """A death is a moment like any other, after which the next life begins."""

    @property
    def place(self) -> tuple[int, int]:
        """Its column and row."""
        return self.state["x"], self.state["y"]

    @property
    def age(self) -> int:
        """Steps of this life."""
        return int(self.state["steps"])

    @property
    def news(self) -> str:
        """The latest event in a few words; mostly empty."""
        if self.is_dead:
            return f"died at the age of {self.age:,}, {'poisoned' if self.ate_poison else 'starved'}"
        if self.age == 0:
            return f"life {self.life} begins"
        return "ate food" if self.ate_food else "ate poison" if self.ate_poison else ""


class Player:
    """An agent in game 0 of a seed, where it does what ``goodharts evaluate`` sees it do, but for rounding.

    moment: the present one. numbers: of the world that it lives in. deterministic: whether it takes the likeliest
    action, rather than draw one.
    """

    def __init__(
        self,
        model: Model,
        numbers: Numbers,
        *,
        seed: int = 0,
        deterministic: bool = False,
        device: torch.device | str = "cpu",
    ) -> None:
        world = evaluation_world(MODES[model.mode], numbers, device)
        self._engine = world.engines["torch"](1)
        self._agent = agent_of(model, device)
        self._player = AgentPlayer(self._agent, deterministic)
        self._trail: deque[tuple[int, int]] = deque(maxlen=_TRAIL)
        self._energies: deque[Sample] = deque(maxlen=REMEMBERED)
        self._so_far: dict[str, Any] = {"life": 1, "steps": 0, "deaths": 0, "food": 0, "poison": 0}
        self._key = game_seeds(seed, 1)
        self.moment = self._look(self._engine.reset(self._key, _ALL))

    def step(self) -> ActivationFrame:
        """The next moment, after the step that the agent decided on."""
        self._trail.append(self.moment.place)
        step = self._engine.step(np.array([self.moment.decision.action], np.int32))
        assert step.events is not None
        happened = tuple(bool(step.events[0] >> bit & 1) for bit in range(len(EVENTS)))
        for name, has_happened in zip(("food", "poison", "deaths", "steps"), (*happened, True), strict=True):
            self._so_far[name] += has_happened
        self.moment = self._look(step.observation, happened)
        return self.moment

    def begin_another_life(self) -> ActivationFrame:
        """The first moment of the next life, somewhere else; a life that it ends early is no death."""
        self._so_far["life"] += 1
        self._trail.clear()
        self.moment = self._look(self._engine.restart(_ALL))
        return self.moment

    def moments(self, steps: int) -> Iterator[ActivationFrame]:
        """Yield the present moment, and the next ones until the agent has made so many steps, of all lives."""
        return chain.from_iterable(self.lives(steps))

    def lives(self, steps: float) -> Iterator[Iterator[ActivationFrame]]:
        """One life after another, each begun when the one before has ended or is left, until so many steps are made."""
        yield self._life(steps)
        while self.moment.steps < steps:
            self.begin_another_life()
            yield self._life(steps)

    def _life(self, steps: float) -> Iterator[ActivationFrame]:
        yield self.moment
        while not self.moment.is_dead and self.moment.steps < steps:
            yield self.step()

    def _look(self, observation: Array, happened: tuple[bool, ...] = _NOTHING) -> ActivationFrame:
        (state,) = self._engine.get_state(_ALL)
        steps = np.array([self._so_far["steps"]])
        mask = self._engine.mask()
        (decision,) = decide(self._player, observation, mask, self._key, steps, lambda: [state])
        self._energies.append(Sample(self._so_far["life"], state["energy"] / 1000))
        x, y = state["x"], state["y"]
        return ActivationFrame(
            state=state,
            channels=observation[0].copy(),
            activations=tuple((name, values[0]) for name, values in self._agent.layers(observation)),
            decision=decision,
            trail=tuple((_nearest(was_x - x), _nearest(was_y - y)) for was_x, was_y in self._trail),
            energies=tuple(self._energies),
            **self._so_far,
            **dict(zip(("ate_food", "ate_poison", "is_dead"), happened, strict=True)),
        )


def _nearest(difference: int) -> int:
    """A difference of columns or rows the short way round the torus."""
    return (difference + SIZE // 2) % SIZE - SIZE // 2
