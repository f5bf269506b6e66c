"""The Swift engine as a batch engine of the harness."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import COMPONENTS, EVENTS, FACTS
from hackmatrix.swift_env.engine import SwiftGames
from hackmatrix.swift_env.process import DEADLINE, SwiftEngineError, build_hint
from hackmatrix.swift_env.protocol import Command, CommandRefused, ObservationFormat, Rows
from rlparity import BatchEngine, BatchStep, Draw, EngineOptions, Phase, State, StateRefused

Slots = NDArray[np.intp]

_THOUSANDTHS = np.float32(1000)
_ONES = np.ones(len(COMPONENTS), np.int32)
"""A product with it sums the components in half the time of ``sum``."""
_NUM_FACTS = len(FACTS)
_EVENT_BITS = np.uint32((1 << len(EVENTS)) - 1)
"""The protocol has one bit more: the game was started anew."""

_HEAD = [("words", "<u4", 3), ("halves", "<u2", 2), ("bytes", "u1", (1,)), ("zeros", "u1", 7)]
_SNAPSHOT = [("words", "<u4", 4), ("halves", "<u2", 5), ("bytes", "u1", 10), ("zeros", "u1", 4), ("cells", "u1", 504)]
_PACKED = np.dtype([("head", _HEAD), ("now", _SNAPSHOT), ("history", _SNAPSHOT)])
"""A packed state, by the sizes of its numbers; docs/reference/protocol.md has their order and meaning."""


class SwiftEngine(BatchEngine):
    """``games`` games of the Swift engine, in a process of its own; uses all options.

    Packed observations are uint8 (k, 1545). Arrays that methods return lie in buffers that the next call overwrites.

    Raises SwiftEngineError where the engine cannot be started and, later, where it fails.
    """

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self._games = SwiftGames(
            np.zeros(games, np.uint64),
            None if options.packed else ObservationFormat.FLOATS,
            DEADLINE if options.deadline is None else options.deadline,
            options.prices,
        )
        self._rows = self._games.opened
        self._marks_before = self._games.marks()[0] if options.marks else None
        self._begun: tuple[bytes, bool] | None = None
        self._packed: NDArray[np.uint8] | None = None
        self._packs_each_step = False
        self._wanted: set[Command] = set()
        """What was asked for since the last step."""
        self._sent_along: list[Command] = []
        """What is asked for along with the step, because it was after the last one; only of a game alone."""
        self._readings: dict[Command, Any] = {}
        """The answers to it, until they are given."""
        self._resting: Slots | None = None
        """Slots in which the coming step, or the step begun, means nothing, because a restart follows it there."""
        self._restarted: tuple[Slots, Rows] | None = None
        """That restart, sent along with the step."""

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        return self._placed(self._games.reset(seeds, slots), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        restarted, self._restarted = self._restarted, None
        if restarted is not None and np.array_equal(restarted[0], slots):
            return self._placed(restarted[1], slots)
        return self._placed(self._games.restart(slots), slots)

    def rest(self, slots: Slots) -> None:
        """The restart that follows is sent to the process together with the step."""
        self._resting = slots

    def seeds(self) -> NDArray[np.uint64]:
        return self._rows.seeds

    def mask(self) -> NDArray[np.bool_]:
        return self._rows.mask

    def facts(self) -> NDArray[np.uint32]:
        return self._rows.facts[:, :_NUM_FACTS]

    def unpacked(self, observation: NDArray[Any]) -> NDArray[np.float32]:
        if observation.dtype == np.float32:
            return observation if self._games.lasts(observation) else observation.copy()
        return np.divide(observation, self._games.divisors, dtype=np.float32)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """The process works on its own core from here on."""
        self._games.send_step(actions, auto_reset=restarting)
        if self._packs_each_step:
            self._games.send_packed_states()
        self._sent_along = sorted(self._wanted) if self.games == 1 else []
        for command in self._sent_along:
            self._games.send_reading(command)
        if self._resting is not None:
            self._games.send_restart(self._resting)
        self._begun = (actions.tobytes(), restarting)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=True)

    def get_state(self, slots: Slots) -> list[State]:
        if self.games == len(slots) == 1:
            return cast(list[State], self._reading(Command.GET_STATES, self._games.get_states))
        return self._games.get_states(slots)

    def set_state(self, states: Sequence[State], slots: Slots) -> NDArray[Any]:
        try:
            rows = self._games.set_states(states, slots)
        except CommandRefused as refusal:
            raise StateRefused(str(refusal)) from refusal
        return self._placed(rows, slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        """Packed states, later sent with every step: ``scalars`` uint32 (n, 46), ``cells`` uint8 (n, 2, 14, 36)."""
        self._packs_each_step = True
        if self._packed is None:
            self._games.send_packed_states()
            self._packed = self._games.receive_packed_states()
        packed = self._packed.view(_PACKED)[:, 0]
        parts = [packed[name] for name in ("head", "now", "history")]
        scalars = [part[size].astype(np.uint32) for part in parts for size in ("words", "halves", "bytes")]
        cells = np.stack([part["cells"] for part in parts[1:]], axis=1)
        return {"scalars": np.concatenate(scalars, axis=1), "cells": cells.reshape(self.games, 2, 14, 36)}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        if self._marks_before is None:
            return None
        return (self._reading(Command.GET_MARKS, self._games.marks)[0] - self._marks_before).astype(np.int64)

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...]:
        try:
            told = self._games.phases(state, int(actions[0]))
        except CommandRefused as refusal:
            raise SwiftEngineError(f"the Swift engine tells no phases ({refusal}): {build_hint()}.") from refusal
        return tuple(
            Phase(
                each["phase"],
                each["state"],
                tuple(Draw((draw["event"], draw["site"], draw["index"]), draw["word"]) for draw in each["draws"]),
            )
            for each in told
        )

    def close(self) -> None:
        """End the process; closing twice is fine."""
        self._games.close()

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        self._begun = self._packed = None
        self._rows = rows = self._games.receive_step()
        if self._packs_each_step:
            self._packed = self._games.receive_packed_states()
        self._readings = {command: self._games.receive_reading(command) for command in self._sent_along}
        self._wanted.clear()
        resting, self._resting = self._resting, None
        self._restarted = None if resting is None else (resting, self._games.receive_restart())
        assert rows.observation is not None
        return BatchStep(
            observation=rows.observation,
            components=rows.components,
            reward=(rows.components @ _ONES).astype(np.float32) / _THOUSANDTHS,
            terminated=rows.terminated,
            facts=self.facts(),
            events=rows.facts[:, -1] & _EVENT_BITS,
        )

    def _reading(self, command: Command, ask: Callable[[], Any]) -> Any:  # noqa: ANN401 - as ``ask`` gives it
        self._wanted.add(command)
        return self._readings.pop(command) if command in self._readings else ask()

    def _placed(self, rows: Rows, slots: Slots) -> NDArray[Any]:
        """Copy the rows of some slots into those of all; return their observations."""
        every = self._rows
        every.seeds[slots], every.mask[slots], every.facts[slots] = rows.seeds, rows.mask, rows.facts
        self._begun = self._packed = self._resting = None
        self._readings.clear()
        assert rows.observation is not None
        return rows.observation
