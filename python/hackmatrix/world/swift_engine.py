"""The Swift engine as the harness sees it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hackmatrix.games.rows import FACTS, Rows, rewards
from hackmatrix.rules import EVENTS
from hackmatrix.swift_env import Refused, SwiftEngineError, SwiftGames
from parity import BatchEngine, BatchStep, EngineError, EngineOptions, State, StateRefused

Slots = NDArray[np.intp]
T = TypeVar("T")

_EVENT_BITS = np.uint32((1 << len(EVENTS)) - 1)
"""The protocol has one bit more: the game was started anew."""

_POSITION = np.dtype(
    [
        ("turn", "<u4"), ("interval", "<u4"), ("nextScheduledTurn", "<u4"), ("programs", "<u4"),
        ("credits", "<u2"), ("energy", "<u2"), ("dataSiphons", "<u2"), ("score", "<u2"), ("pending", "<u2"),
        ("player", "u1"), ("hp", "u1"), ("attack", "u1"), ("stage", "u1"), ("show", "u1"), ("calm", "u1"),
        ("step", "u1"), ("atkPlusUses", "u1"), ("closest", "u1"), ("exit", "u1"), ("unused", "u1", 4),
        ("cells", "u1", (14, 36)),
    ]
)  # fmt: skip
_PACKED = np.dtype(
    [
        ("seed", "<u4", 2), ("event", "<u4"), ("kills", "<u2"), ("pickups", "<u2"), ("hasHistory", "u1"),
        ("unused", "u1", 7), ("now", _POSITION), ("history", _POSITION),
    ]
)  # fmt: skip
"""A packed state, as docs/protocol.md lays it out."""


class SwiftEngine(BatchEngine):
    """``games`` games of the Swift engine. It always counts marks; ``marks`` says whether to show them."""

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self._shows_marks = options.marks
        self._games = _asked(lambda: SwiftGames(np.zeros(games, np.uint64)))
        self._rows = self._games.opened
        self._first_marks = _asked(self._games.marks)[0]
        self._begun: tuple[bytes, bool] | None = None
        self._packed: NDArray[np.uint8] | None = None
        self._packs_each_step = False

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        """As BatchEngine: new games."""
        return self._placed(_asked(lambda: self._games.reset(seeds, slots)), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        """As BatchEngine: the games that R6 names."""
        return self._placed(_asked(lambda: self._games.restart(slots)), slots)

    def seeds(self) -> NDArray[np.uint64]:
        """As BatchEngine: the seeds."""
        return self._rows.seeds

    def mask(self) -> NDArray[np.bool_]:
        """As BatchEngine: the masks."""
        return self._rows.mask

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """As BatchEngine: the engine works on its own core from here on."""

        def send() -> None:
            self._games.send_step(actions, auto_reset=restarting)
            if self._packs_each_step:
                self._games.send_packed_states()

        _asked(send)
        self._begun = (actions.tobytes(), restarting)

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        """As BatchEngine: a step."""
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        """As BatchEngine: a step with the engine's own auto-reset."""
        return self._step(actions, restarting=True)

    def get_state(self, slots: Slots) -> list[State]:
        """As BatchEngine: complete states."""
        return _asked(lambda: self._games.get_states(slots))

    def set_state(self, states: Sequence[State], slots: Slots) -> NDArray[Any]:
        """As BatchEngine: observations of the states taken."""
        try:
            rows = self._games.set_states(states, slots)
        except Refused as refusal:
            raise StateRefused(str(refusal)) from refusal
        except SwiftEngineError as error:
            raise EngineError(str(error)) from error
        return self._placed(rows, slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        """As BatchEngine: packed states, spread out. Asked for once, they are sent along with every step."""
        self._packs_each_step = True
        if self._packed is None:
            _asked(self._games.send_packed_states)
            self._packed = _asked(self._games.receive_packed_states)
        packed = self._packed.view(_PACKED)[:, 0]
        positions = [packed["now"], packed["history"]]
        scalars = [packed["seed"], *(packed[name] for name in ("event", "kills", "pickups", "hasHistory"))]
        for position in positions:
            scalars += [position[name] for name in _POSITION.names or () if name not in ("unused", "cells")]
        return {
            "scalars": np.column_stack([values.astype(np.uint32) for values in scalars]),
            "cells": np.stack([position["cells"] for position in positions], axis=1),
        }

    def marks(self) -> NDArray[np.integer[Any]] | None:
        """As BatchEngine: mark counts."""
        return (_asked(self._games.marks)[0] - self._first_marks).astype(np.int64) if self._shows_marks else None

    def close(self) -> None:
        """End the process."""
        self._games.close()

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        self._begun = None
        self._packed = None
        rows = _asked(self._games.receive_step)
        if self._packs_each_step:
            self._packed = _asked(self._games.receive_packed_states)
        self._rows = rows
        assert rows.observation is not None
        facts, events = rows.facts[:, : len(FACTS)], rows.facts[:, -1] & _EVENT_BITS
        reward = rewards(rows.components)
        return BatchStep(rows.observation, rows.components, reward, rows.terminated, None, facts, events)

    def _placed(self, rows: Rows, slots: Slots) -> NDArray[Any]:
        """Take the new seeds and masks of some slots into those of all."""
        seeds, mask = self._rows.seeds.copy(), self._rows.mask.copy()
        seeds[slots], mask[slots] = rows.seeds, rows.mask
        self._rows = self._rows._replace(seeds=seeds, mask=mask)
        self._packed = None
        assert rows.observation is not None
        return rows.observation


def _asked(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except SwiftEngineError as error:
        raise EngineError(str(error)) from error
