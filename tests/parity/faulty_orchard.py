"""Engines with a planted fault each, for the harness to find."""

from __future__ import annotations

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
    """The engine with other answers of some methods: name=function(engine, answer)."""

    def method(name: str, change: Callable[..., Any]) -> Callable[..., Any]:
        answer = getattr(base, name)
        return lambda engine, *given: change(engine, answer(engine, *given))

    return type("Changed", (base,), {name: method(name, change) for name, change in changes.items()})


def playing(game: type[Game]) -> Any:  # noqa: ANN401 - an engine's class
    """The plain engine by the rules of another game."""
    return type("Playing", (PlainEngine,), {"game": game})


class CountingEngine(PlanesEngine):
    """Knows how many steps it has taken."""

    taken = 0

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.taken += 1
        return super().step(actions)


DoubleEngine = changed(PlainEngine, observations=lambda engine, seen: seen.astype(np.float64))
"""Observes in double precision."""


class Restless(Game):
    """Resting does not heal once the score is 4: takes a few picks to show."""

    def rest(self) -> None:
        self.hp = self.hp if self.score >= 4 else min(3, self.hp + 1)


RestlessEngine = playing(Restless)


class MiscountingEngine(PlanesEngine):
    """Counts a mark on a step that did not fire it; plays right."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.count("sting", int(((actions == 5) & (self.hp == 3)).sum()))
        return super().step(actions)


def _odd(_: PlanesEngine, step: BatchStep) -> BatchStep:
    """A step that shows hp as NaN, and gives components of NaN and infinite reward."""
    step.observation[:, 0], step.reward[:] = np.nan, -np.inf
    return replace(step, components=np.full(step.components.shape, np.nan))


class ForgetfulEngine(PlainEngine):
    """Takes a wrong seed for the next game."""

    def restart(self, slots: NDArray[np.intp]) -> NDArray[Any]:
        for slot in slots:
            self.list[slot].start(mix(self.list[slot].seed) ^ 1)
        return self.observations(slots)


class LeakyEngine(PlanesEngine):
    """Slot 1 is hurt by what slot 0 does: no game played alone shows it."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        if self.games > 1 and actions[0] == 4:
            self.score[1] += 1
        return super().step(actions)


def picks_more(score: int = 0, also: Callable[[Any, NDArray[np.bool_], BatchStep], object] | None = None) -> Any:  # noqa: ANN401 - an engine's class
    """An engine whose picks count one more from a score on; ``also``: what else is wrong then."""

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
    """Begins other games from the same seeds."""

    def reset(self, seeds: NDArray[np.uint64], slots: NDArray[np.intp]) -> NDArray[Any]:
        super().reset(seeds ^ np.uint64(2**40), slots)
        self.seed[slots] = seeds
        return self.observe()[slots]


def failing(fault: BaseException, steps: int = 0) -> type[PlanesEngine]:
    """An engine that raises this after so many steps."""

    class Failing(CountingEngine):
        def step(self, actions: NDArray[np.int32]) -> BatchStep:
            if self.taken == steps:
                raise fault
            return super().step(actions)

    return Failing


class HangingEngine(PlanesEngine):
    """Never answers its first step."""

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
