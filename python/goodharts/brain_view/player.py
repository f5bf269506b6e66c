"""Lets one trained agent live by the rules of an evaluation, and shows each of its moments (G6, G7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from goodharts.brain_view.moment import HORIZON, REMEMBERED, Activation, Moment, Sample
from goodharts.evaluation.players import action_keys, chances, drawn, likeliest
from goodharts.models import Model
from goodharts.render.surroundings import cut_out
from goodharts.rules import EMPTY, FOOD, MODES, POISON, SIZE, Numbers
from goodharts.torch_env.env import Games
from goodharts.torch_env.random import game_keys
from goodharts.training.inputs import Inputs

_TRAIL = 24
_THOUSANDTHS = 1000


class Player:
    """An agent in game 0 of a seed, where it does what ``goodharts evaluate`` sees it do, but for rounding.

    Args:
        model: the agent.
        numbers: of the world that it lives in.
        seed: of the game and of the drawn actions, 0 … 2⁶⁴ − 1.
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
        mode = MODES[model.mode]
        self._games = Games(mode, 1, numbers=numbers, device=device, evaluating=True)
        self._policy = model.policy.to(self._games.device)
        self._inputs = Inputs(mode, numbers, model.network.privileged, self._games.device)
        self._deterministic = deterministic
        self._trail: deque[tuple[int, int]] = deque(maxlen=_TRAIL)
        self._energies: deque[Sample] = deque(maxlen=REMEMBERED)
        self._life, self._steps, self._deaths, self._food, self._poison = 1, 0, 0, 0, 0
        key = game_keys(seed, 1).to(self._games.device)
        self._action_key = action_keys(key)
        codes = self._games.start(key)
        self._moment = self._look(codes)

    @property
    def moment(self) -> Moment:
        """How things are."""
        return self._moment

    def step(self) -> Moment:
        """The next moment: after the step that the agent decided on, or, where it is dead, its next life."""
        if self._moment.is_dead:
            return self.begin_another_life()
        self._trail.append((self._moment.x, self._moment.y))
        outcome = self._games.step(torch.tensor([self._moment.action], device=self._games.device))
        ate, is_dead = int(outcome.eaten), bool(outcome.terminated)
        self._steps += 1
        self._deaths += is_dead
        self._food += ate == FOOD
        self._poison += ate == POISON
        self._moment = self._look(outcome.codes, ate, is_dead)
        return self._moment

    def begin_another_life(self) -> Moment:
        """The first moment of the next life, somewhere else; a life that it ends early is no death."""
        self._life += 1
        self._trail.clear()
        self._moment = self._look(self._games.respawn(torch.tensor([0], device=self._games.device)))
        return self._moment

    def moments(self, steps: int) -> Iterator[Moment]:
        """How things are, and then one moment after the other until the agent has made so many steps, of all lives."""
        yield self._moment
        while self._steps < steps:
            yield self.step()

    @torch.inference_mode()
    def _look(self, codes: Tensor, ate: int = EMPTY, is_dead: bool = False) -> Moment:
        state = self._games.state
        x, y, energy = int(state.x), int(state.y), int(state.energy) / _THOUSANDTHS
        counts = torch.stack((state.food_count, state.poison_count), dim=1)
        observation, privileges = self._inputs(codes, counts)
        layers = self._policy.layers(observation)
        logits = layers[-1].activation
        self._energies.append(Sample(self._life, energy))
        return Moment(
            around=self._around(x, y),
            x=x,
            y=y,
            trail=tuple((_nearest(was_x - x), _nearest(was_y - y)) for was_x, was_y in self._trail),
            channels=observation[0].cpu().numpy(),
            activations=tuple(Activation(name, activation[0].cpu().numpy()) for name, activation in layers),
            probabilities=logits[0].softmax(dim=0).cpu().numpy(),
            action=self._decide(logits),
            value=float(self._policy(observation, privileges)[1]),
            energy=energy,
            energies=tuple(self._energies),
            life=self._life,
            age=int(state.steps),
            steps=self._steps,
            deaths=self._deaths,
            food=self._food,
            poison=self._poison,
            ate=ate,
            is_dead=is_dead,
        )

    def _decide(self, logits: Tensor) -> int:
        if self._deterministic:
            return int(likeliest(logits))
        return int(drawn(logits, chances(self._action_key, self._steps, 1)[0]))

    def _around(self, x: int, y: int) -> NDArray[np.int8]:
        return cut_out(self._games.state.grid.view(SIZE, SIZE).cpu().numpy(), x, y, HORIZON)


def _nearest(difference: int) -> int:
    """A difference of columns or rows the short way round the torus."""
    return (difference + SIZE // 2) % SIZE - SIZE // 2
