"""Free-running play: both engines play on after they differ, and what a user sees of it is measured."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from parity.compare import STATE
from parity.contract import run_seeds
from parity.engine import Array, Slots
from parity.errors import EngineError
from parity.pair import Observed, Pair
from parity.replay import Divergence, batch_divergence
from parity.settings import Effect, Outcome, Settings
from parity.source_specs import open_source
from parity.sources import Source, choose_actions
from parity.trace import History
from parity.world import View, World

ENDED = ("terminated", "truncated")
SHOWN = ("observation", "mask", "components", "reward", *ENDED)
"""What a user sees."""


class FreeRun:
    """Two engines that start from the same seeds or made states, each then acted on by what it shows itself.

    Both get the same actions as long as that is the same. Arrays are by engine (2) and game; ``steps``: of each game.
    """

    def __init__(self, pair: Pair, source: Source, settings: Settings) -> None:
        self.steps = 0
        self.divergences: list[Divergence] = []
        self.measures = {name: np.zeros((2, pair.games)) for name in ("return", "length", *ENDED)}
        self.first = np.full(pair.games, -1)
        self.running = np.ones((2, pair.games), np.bool_)
        self._pair, self._source, self._settings = pair, source, settings
        self._history = History(pair.games, marks=False, auto_reset=False)
        seeds = run_seeds(settings.seed, pair.games, pair.world.seed_bits)
        for slot, seed in enumerate(seeds.tolist()):
            self._history.begin(slot, seed)
        seen = pair.reset(seeds)
        self._observations = [np.array(side["observation"]) for side in (seen.expected, seen.observed)]
        self._note(seen, pair.all)
        if made := source.starts(pair.all):
            for slot, state in made.items():
                self._history.begin(slot, state)
            slots: Slots = np.array([*made], np.intp)
            self._note(pair.set_state([*made.values()], slots), slots)

    def advance(self) -> None:
        """One action in every game of each engine."""
        actions, others = self._actions(0), self._actions(1)
        seen = self._pair.step(actions, others=others)
        self._history.add(actions)
        self.steps += 1
        self._note(seen, self._pair.all)
        self.measures["length"] += self.running
        for side, fields in enumerate((seen.expected, seen.observed)):
            running, games = self.running[side], self._pair.games
            # of several players, rewards are summed, and the game ends when it does for all
            rewards = np.asarray(fields["reward"]).reshape(games, -1).sum(axis=1)
            ends = {name: np.asarray(fields[name]).reshape(games, -1) for name in ENDED if name in fields}
            self.measures["return"][side] += np.where(running, rewards, 0.0)
            for name, flags in ends.items():
                self.measures[name][side] += running & flags.all(axis=1)
            self.running[side] &= ~np.any([*ends.values()], axis=0).all(axis=1)

    def _actions(self, side: int) -> Array:
        engine = self._pair.both[side]
        view = View(self._observations[side], engine.mask(), self._pair.all, engine.get_state)
        rng = np.random.default_rng([self._settings.seed, self.steps])  # the same draws on both sides
        return choose_actions(
            rng, self._source.weights(view), view.mask, self._settings.invalid, self._pair.world.action_space
        )

    def _note(self, seen: Observed, slots: Slots) -> None:
        """Keep what games show, and note which of them differ for the first time."""
        sides = [{name: side[name] for name in SHOWN if name in side} for side in (seen.expected, seen.observed)]
        for mine, side in zip(self._observations, sides, strict=True):
            mine[slots] = side["observation"]
        shown = Observed(sides[0], sides[1], seen.step)
        is_new = (self.first[slots] < 0) & self.running[:, slots].any(axis=0)
        for row in np.flatnonzero(self._pair.rows_that_differ(shown) & is_new).tolist():
            slot = int(slots[row])
            self.first[slot] = self.steps
            if len(self.divergences) < self._settings.stop_after:
                case = self._history.case(slot)
                self.divergences.append(batch_divergence(self._pair, case, shown, row, slot))


def run_freely(
    world: World, engines: tuple[str, str], settings: Settings, progress: Callable[[], object] = lambda: None
) -> Outcome:
    """Play ``settings.games`` games on both engines, each to its end or for ``settings.steps`` steps, and compare.

    ``progress`` is called after each step. Raises EngineError and UsageError.
    """
    source = open_source(settings.source, world, settings.games, np.random.default_rng(settings.seed))
    with Pair(world, engines, settings.games, timeout=settings.timeout) as pair:
        is_black_box = pair.is_black_box
        pair.unknown.add(STATE)  # which no user sees
        began = time.perf_counter()
        run = FreeRun(pair, source, settings)
        try:
            while run.steps < settings.steps and run.running.any():
                run.advance()
                progress()
        except EngineError as error:
            raise EngineError(f"{error} That was after {run.steps} steps, with seed {settings.seed}.") from error
        seconds = time.perf_counter() - began
    effect = Effect(run.first, run.measures)
    steps, ended = int(run.measures["length"].max(axis=0).sum()), int((~run.running[0]).sum())
    return Outcome(steps, ended, seconds, run.divergences, is_black_box=is_black_box, effect=effect)
