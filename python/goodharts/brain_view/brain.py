"""A trained agent that lives by the rules of an evaluation (G6), and what there is to see of it."""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

import numpy as np
import torch
from numpy.typing import NDArray

from goodharts.agents import Judge, agent_of, numbers_of
from goodharts.models import Model
from goodharts.rules import MODES, SIZE, Numbers
from goodharts.world import evaluation_world, game_seeds
from rlparity import State
from rlworldkit.agents.agent import AgentPlayer
from rlworldkit.agents.choice import DEFAULT, LIKELIEST, Choice
from rlworldkit.envs.episodes import Episodes
from rlworldkit.watch.frames import Decision, Frame, decide, endless_games

REMEMBERED = 240
"""Number of the latest moments whose energies are kept."""
_TRAIL = 24

Floats = NDArray[np.float32]


class Brain:
    """An agent in game 0 of a seed, where it does what ``goodharts evaluate`` sees it do, but for rounding.

    numbers: of the world that it lives in; by default as it was trained in. choice: how it chooses its
    actions.

    Attributes tell of the latest frame: state is complete (G13). trail: where it was in its latest steps of this life,
    as (dx, dy) from where it is, oldest first. energies: the number of the life and the energy at the latest moments,
    oldest first. life: counted from 1; steps, deaths, food, poison: in all lives. news: the latest event in a few
    words. is_dead: the step that led here killed it.
    """

    def __init__(
        self,
        model: Model,
        numbers: Numbers | None = None,
        *,
        seed: int = 0,
        choice: Choice = DEFAULT,
        device: torch.device | str = "cpu",
    ) -> None:
        self.model, self.judge, self.agent = model, Judge(model, device), agent_of(model, device)
        world = evaluation_world(MODES[model.mode], numbers or numbers_of(model.config), device)
        self._episodes, self._seed = Episodes(world, 1, engine="torch"), int(game_seeds(seed, 1)[0])
        chosen, steps = AgentPlayer(self.agent, choice), count()
        # draws are numbered by the steps of all lives, as in an evaluation
        self._player = AgentPlayer(
            self.agent, searcher=lambda seen, masks, seeds, _: chosen(seen, masks, seeds, np.array([next(steps)]))
        )
        self.state: State = {}
        self.trail: deque[tuple[int, int]] = deque(maxlen=_TRAIL)
        self.energies: deque[tuple[int, float]] = deque(maxlen=REMEMBERED)
        self.life = self.steps = self.deaths = self.food = self.poison = 0
        self.news, self.is_dead = "", False

    def lives(self, steps: float = math.inf) -> Iterator[Iterator[Frame]]:
        """One life after another, each begun when the one before has ended or is left, until so many steps are made."""
        for life in endless_games(self._episodes, self._player, self._seed):
            yield self._followed(life, steps)
            if self.steps >= steps:
                return

    def _followed(self, life: Iterator[Frame], steps: float) -> Iterator[Frame]:
        for frame in life:
            self._follow(frame)
            yield replace(frame, ending=None)  # which is not waited for: the next life follows
            if self.steps >= steps:
                return

    def _follow(self, frame: Frame) -> None:
        """Take in the next frame."""
        before, self.state = self.state, frame.state
        self.is_dead, self.news = frame.ending is not None, ""
        if frame.step == 0:
            self.life += 1
            self.trail.clear()
            self.news = f"life {self.life} begins"
        else:
            cell = SIZE * frame.state["y"] + frame.state["x"]
            x, y = (frame.state[name] - before[name] for name in "xy")
            self.trail = deque(
                ((_nearest(dx - x), _nearest(dy - y)) for dx, dy in [*self.trail, (0, 0)]), self.trail.maxlen
            )
            self.steps += 1
            self.deaths += self.is_dead
            for name in ("food", "poison"):
                if cell in before[name]:
                    setattr(self, name, getattr(self, name) + 1)
                    self.news = f"ate {name}"
        if frame.ending:
            how = "poisoned" if self.news == "ate poison" else "starved"
            self.news = f"died at the age of {frame.step:,}, {how}"
        self.energies.append((self.life, frame.state["energy"] / 1000))

    def thoughts(self) -> tuple[Floats, list[tuple[str, Floats]], Decision]:
        """What it sees (2, 11, 11), its layers' activations by name, and what it would do next at its likeliest."""
        episodes = self._episodes
        seen, mask, seeds = episodes.observation, episodes.mask, episodes.seeds
        (decision,) = decide(
            AgentPlayer(self.agent, Choice(LIKELIEST)), seen, mask, seeds, np.zeros(1, np.int64), episodes.get_states
        )
        return seen[0], [(name, values[0]) for name, values in self.judge.layers(seen)[:-1]], decision


def _nearest(difference: int) -> int:
    """A difference of columns or rows the short way round the torus."""
    return (difference + SIZE // 2) % SIZE - SIZE // 2
