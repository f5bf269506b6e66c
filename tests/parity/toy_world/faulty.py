"""Engines with a planted fault each, for the harness to find."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parity import BatchStep
from toy_world.plain import Game, PlainEngine, mix
from toy_world.planes import PlanesEngine


class _Restless(Game):
    def rest(self) -> None:
        self.hp = self.hp if self.score >= 4 else min(3, self.hp + 1)


class RestlessEngine(PlainEngine):
    """Resting does not heal once the score is 4: takes a few picks to show."""

    game = _Restless


class MiscountingEngine(PlanesEngine):
    """Counts a mark on a step that did not fire it; plays right."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.count("sting", int(((actions == 5) & (self.hp == 3)).sum()))
        return super().step(actions)


class NanEngine(PlanesEngine):
    """Shows hp as NaN, and gives components of NaN and infinite reward."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        step = super().step(actions)
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


class HidingEngine(PlanesEngine):
    """Leaves the turn out of its state arrays."""

    def state_arrays(self) -> Mapping[str, NDArray[Any]] | None:
        return {name: values for name, values in (super().state_arrays() or {}).items() if name != "turn"}


class HidingLateEngine(HidingEngine):
    """Hides the turn too, and reports it wrongly from turn 9 on."""

    def state(self, slot: int) -> dict[str, Any]:
        state = super().state(slot)
        return state | {"turn": state["turn"] + (state["turn"] >= 9)}


class DoubleEngine(PlanesEngine):
    """Observes in double precision."""

    def observe(self) -> NDArray[Any]:
        return super().observe().astype(np.float64)


class DyingEngine(PlanesEngine):
    """Raises in its third step."""

    steps = 0

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        self.steps += 1
        if self.steps == 3:
            raise BrokenPipeError("the process has gone")
        return super().step(actions)


class HungryEngine(PlanesEngine):
    """Runs out of a device's memory in its first step."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        raise RuntimeError("INTERNAL: Error dispatching computation: Out of memory allocating 1099511627776 bytes.")


class HangingEngine(PlanesEngine):
    """Never answers its first step."""

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        while True:
            time.sleep(0.01)
