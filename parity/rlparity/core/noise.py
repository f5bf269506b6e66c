"""Noise floor of an engine: it plays the same games on both sides, and what varies by itself is measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.pair import Observed, Pair
from rlparity.core.settings import RESYNCHRONISED, STRICT, Noise, Settings
from rlparity.core.trace import Action, RecordedRun
from rlparity.engine import Slots
from rlparity.errors import UsageError
from rlparity.world import World


class NoiseRun(LockstepRun):
    """A run whose differences are measured; ``floor`` by field. Both sides are the same engine."""

    def __init__(self, pair: Pair, settings: Settings, floor: dict[str, Noise]) -> None:
        super().__init__(pair, settings)
        self.floor = floor

    def check(self, seen: Observed, slots: Slots, *then: Action) -> None:
        """Measure what differs; where games are not put together again at each step, the next one follows."""
        for row in np.flatnonzero(self.pair.rows_that_differ(seen) & self.active[slots]):
            slot = int(slots[row])
            for found in self.pair.explain(seen, int(row), slot):
                name = re.sub(r"\[[^\]]*\]", "", found.field)
                self.floor.setdefault(name, Noise(name)).add(found.expected, found.observed)
            self.active[slot] = self._injects_steps


def noise_floor(
    world: World, engine: str, settings: Settings, progress: Callable[[], object] = lambda: None
) -> dict[str, Noise]:
    """Play an engine against itself in ``settings.noise`` runs; returns what varies, by field.

    Games are put into the same state before each step where the engine has states. Raises UsageError for a tape.
    """
    floor: dict[str, Noise] = {}
    if isinstance(world.engines[engine], RecordedRun):
        raise UsageError(f"{engine} plays no game twice: leave --noise out.")
    for number in range(settings.noise):
        with Pair(replace(world, tolerances={}), (engine, engine), settings.games, timeout=settings.timeout) as pair:
            mode = STRICT if pair.replays_states else RESYNCHRONISED
            alone = replace(settings, seed=settings.seed + number, mode=mode, auto_reset=False, marks=False)
            NoiseRun(pair, alone, floor).play(progress)
    return floor
