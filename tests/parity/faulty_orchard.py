"""Orchard engines with one planted fault each, for the harness to find."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from orchard import WORLD as ORCHARD
from orchard.plain import Game, PlainEngine, mix
from orchard.planes import PlanesEngine

from rlparity import BatchStep


def changed(base: Any = PlanesEngine, **changes: Callable[..., Any]) -> Any:  # noqa: ANN401 - an engine's class
    """Subclass an engine with changed answers of some methods: name=function(engine, answer)."""

    def method(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
        answer = getattr(base, name)
        return lambda engine, *given: change(engine, answer(engine, *given))

    return type("Changed", (base,), {name: method(name, change) for name, change in changes.items()})


def playing(game: type[Game]) -> Any:  # noqa: ANN401 - an engine's class
    """Subclass the plain engine with another game class."""
    return type("Playing", (PlainEngine,), {"game": game})


class CountingEngine(PlanesEngine):
    """Engine that counts its steps."""

    taken = 0

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.taken += 1
        return super().step(actions)


DoubleEngine = changed(PlainEngine, observations=lambda engine, seen: seen.astype(np.float64))
"""Engine with observations in double precision."""


class Restless(Game):
    """Game in which resting does not heal once the score is 4, which takes a few picks to show."""

    def rest(self) -> None:
        self.hp = self.hp if self.score >= 4 else min(3, self.hp + 1)


RestlessEngine = playing(Restless)


class MiscountingEngine(PlanesEngine):
    """Engine that counts a mark on a step that did not fire it, but plays correctly."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.count("sting", int(((actions == 5) & (self.hp == 3)).sum()))
        return super().step(actions)


def _odd(_: PlanesEngine, step: BatchStep) -> BatchStep:
    """Change a step to observe hp as NaN, with components of NaN and a reward of -infinity."""
    step.observation[:, 0], step.reward[:] = np.nan, -np.inf
    return replace(step, components=np.full(step.components.shape, np.nan))


class ForgetfulEngine(PlainEngine):
    """Engine that takes a wrong seed for the next game."""

    def restart(self, slots: NDArray[np.intp]) -> NDArray[Any]:
        for slot in slots:
            self.list[slot].start(mix(self.list[slot].seed) ^ 1)
        return self.observations(slots)


class LeakyEngine(PlanesEngine):
    """Engine in which picks in slot 0 raise the score in slot 1, which no game played alone shows."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        if self.games > 1 and actions[0] == 4:
            self.score[1] += 1
        return super().step(actions)


def picks_more(score: int = 0, also: Callable[[Any, NDArray[np.bool_], BatchStep], object] | None = None) -> Any:  # noqa: ANN401 - an engine's class
    """Engine class whose picks count one more from a score on; ``also``: further faults of such a step."""

    class PicksMore(CountingEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            wrong = self.mask()[np.arange(self.games), actions] & (actions == 4) & (self.score >= score)
            step = super().step(actions)
            self.score += wrong
            if also is not None:
                also(self, wrong, step)
            return replace(step, observation=self.observe())

    return PicksMore


class DrawsOtherwise(PlanesEngine):
    """Engine that begins other games from the same seeds."""

    def reset(self, seeds: NDArray[np.uint64], slots: NDArray[np.intp]) -> NDArray[Any]:
        super().reset(seeds ^ np.uint64(2**40), slots)
        self.seed[slots] = seeds
        return self.observe()[slots]


def failing(fault: BaseException, steps: int = 0) -> type[PlanesEngine]:
    """Engine class that raises ``fault`` after ``steps`` steps."""

    class Failing(CountingEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            if self.taken == steps:
                raise fault
            return super().step(actions)

    return Failing


class HangingEngine(PlanesEngine):
    """Engine that never answers its first step."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        while True:
            time.sleep(0.01)


WORLD = replace(
    ORCHARD,
    home=None,
    engines={
        "plain": PlainEngine,
        "planes": PlanesEngine,
        "restless": RestlessEngine,
        "miscounting": MiscountingEngine,
        "forgetful": ForgetfulEngine,
        "nan": changed(step=_odd),
        "leaky": LeakyEngine,
        "double": DoubleEngine,
        "dying": failing(BrokenPipeError("the process has gone"), 2),
        "hungry": failing(RuntimeError("INTERNAL: Error dispatching computation: Out of memory allocating 99 bytes.")),
        "quitting": failing(SystemExit(0)),
        "hanging": HangingEngine,
    },
    benches=tuple(
        replace(bench, environment=lambda copy: {"PYTHONPATH": f"{copy}{os.pathsep}{Path(__file__).parent}"})
        for bench in ORCHARD.benches
    ),
    sources={**ORCHARD.sources, "restless": Path(__file__)},
)
