"""Lets one trained agent live by the rules of an evaluation, and shows each of its moments (G6, G7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from goodharts.agents import agent_of
from goodharts.brain_view.activation_frame import REMEMBERED, ActivationFrame, Sample
from goodharts.models import Model
from goodharts.rules import EVENTS, MODES, SIZE, Numbers
from goodharts.world import evaluation_world, game_seeds
from parity.engine import Array
from worldkit.watch.frames import AgentPlayer, decide

_TRAIL = 24
_ALL = np.arange(1)
_NOTHING = (False,) * len(EVENTS)


class Player:
    """An agent in game 0 of a seed, where it does what ``goodharts evaluate`` sees it do, but for rounding.

    Args:
        model: the agent.
        numbers: of the world that it lives in.
        seed: of the game, 0 … 2⁶⁴ − 1.
        deterministic: whether it takes the likeliest action, rather than draw one.
        device: where everything is computed.
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
        self._moment = self._look(self._engine.reset(self._key, _ALL))

    @property
    def moment(self) -> ActivationFrame:
        """How things are."""
        return self._moment

    def step(self) -> ActivationFrame:
        """The next moment: after the step that the agent decided on, or, where it is dead, its next life."""
        if self._moment.is_dead:
            return self.begin_another_life()
        self._trail.append(self._moment.place)
        step = self._engine.step(np.array([self._moment.decision.action], np.int32))
        assert step.events is not None
        happened = tuple(bool(step.events[0] >> bit & 1) for bit in range(len(EVENTS)))
        for name, has_happened in zip(("food", "poison", "deaths", "steps"), (*happened, True), strict=True):
            self._so_far[name] += has_happened
        self._moment = self._look(step.observation, happened)
        return self._moment

    def begin_another_life(self) -> ActivationFrame:
        """The first moment of the next life, somewhere else; a life that it ends early is no death."""
        self._so_far["life"] += 1
        self._trail.clear()
        self._moment = self._look(self._engine.restart(_ALL))
        return self._moment

    def moments(self, steps: int) -> Iterator[ActivationFrame]:
        """How things are, and then one moment after the other until the agent has made so many steps, of all lives."""
        yield self._moment
        while self._moment.steps < steps:
            yield self.step()

    def lives(self, steps: int | None) -> Iterator[Iterator[ActivationFrame]]:
        """One life after another, each begun when the one before has ended or is left; None: without end."""
        yield self._life(steps)
        while steps is None or self._moment.steps < steps:
            self.begin_another_life()
            yield self._life(steps)

    def _life(self, steps: int | None) -> Iterator[ActivationFrame]:
        yield self._moment
        while not self._moment.is_dead and (steps is None or self._moment.steps < steps):
            yield self.step()

    def _look(self, observation: Array, happened: tuple[bool, ...] = _NOTHING) -> ActivationFrame:
        (state,) = self._engine.get_state(_ALL)
        steps = np.array([self._so_far["steps"]])
        mask = self._engine.mask()
        (decision,) = decide(self._player, observation, mask, self._key, steps, lambda: [state])
        self._energies.append(Sample(self._so_far["life"], state["energy"] / 1000))
        told = dict(zip(("ate_food", "ate_poison", "is_dead"), happened, strict=True))
        x, y = state["x"], state["y"]
        return ActivationFrame(
            state=state,
            channels=observation[0].copy(),
            activations=tuple((name, values[0]) for name, values in self._agent.layers(observation)),
            decision=decision,
            trail=tuple((_nearest(was_x - x), _nearest(was_y - y)) for was_x, was_y in self._trail),
            energies=tuple(self._energies),
            **self._so_far,
            **told,
        )


def _nearest(difference: int) -> int:
    """A difference of columns or rows the short way round the torus."""
    return (difference + SIZE // 2) % SIZE - SIZE // 2
