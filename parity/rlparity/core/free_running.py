"""Free-running play: both engines continue after they differ, and the effect that a user sees is measured."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rlparity.agent import View
from rlparity.core.compare import STATE
from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.pair import Outputs, Pair
from rlparity.core.settings import STRICT, Effect, Settings
from rlparity.core.trace import Action
from rlparity.engine import Array, Slots

ENDED = ("terminated", "truncated")
SHOWN = ("observation", "mask", "components", "reward", *ENDED)
"""Fields that a user sees."""


class FreeRun(LockstepRun):
    """Run of two engines from the same seeds or made states, in which each gets actions chosen from its own outputs.

    Both get the same actions as long as their outputs are equal. Arrays are indexed by engine (2) and game.
    """

    def __init__(self, pair: Pair, settings: Settings) -> None:
        super().__init__(pair, replace(settings, mode=STRICT))
        pair.unknown.add(STATE)  # no user sees states
        self.measures = {name: np.zeros((2, pair.games)) for name in ("return", "length", *ENDED)}
        self.first = np.full(pair.games, -1)
        self.running = np.ones((2, pair.games), np.bool_)
        self._observations: list[Array] = []

    def play(self, progress: Callable[[], object]) -> None:
        """Play each game to its end on both engines, or for all steps."""
        self._new_games(self.pair.all)
        while self.taken < self.settings.steps and self.running.any():
            self.advance()
            progress()
        self.outcome.steps = int(self.measures["length"].max(axis=0).sum())
        self.outcome.episodes = int((~self.running[0]).sum())
        self.outcome.effect = Effect(self.first, self.measures)

    def advance(self) -> None:
        """Play one action in every game of each engine."""
        actions, others = self._actions(0), self._actions(1)
        seen = self.pair.step(actions, others=others)
        self.history.add(actions)
        self.taken += 1
        self.active &= self.running.any(axis=0)
        self.check(seen, self.pair.all)
        self.measures["length"] += self.running
        for side, fields in enumerate((seen.expected, seen.observed)):
            running, games = self.running[side], self.pair.games
            # with several players, rewards are summed, and the game ends when it has ended for all
            rewards = np.asarray(fields["reward"]).reshape(games, -1).sum(axis=1)
            ends = {name: np.asarray(fields[name]).reshape(games, -1) for name in ENDED if name in fields}
            self.measures["return"][side] += np.where(running, rewards, 0.0)
            for name, flags in ends.items():
                self.measures[name][side] += running & flags.all(axis=1)
            self.running[side] &= ~np.any([*ends.values()], axis=0).all(axis=1)

    def _actions(self, side: int) -> Array:
        engine = self.pair.both[side]
        view = View(self._observations[side], engine.mask(), self.pair.all, engine.get_state)
        rng = np.random.default_rng([self.settings.seed, self.taken])  # the same draws on both sides
        return self.source.actions(view, rng, self.settings.invalid, self.pair.world.action_space)

    def check(self, seen: Outputs, slots: Slots, *then: Action) -> None:
        """Store the observations, and note the games that differ for the first time."""
        sides = [{name: side[name] for name in SHOWN if name in side} for side in (seen.expected, seen.observed)]
        self._observations = self._observations or [np.array(side["observation"]) for side in sides]
        for mine, side in zip(self._observations, sides, strict=True):
            mine[slots] = side["observation"]
        together = self.active.copy()
        super().check(Outputs(sides[0], sides[1], seen.step), slots, *then)
        self.first[together & ~self.active] = self.taken
