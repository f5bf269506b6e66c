"""The Swift engine as a batch engine of the harness: many games in one process, as numpy arrays."""

import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import COMPONENTS, EVENTS, FACTS
from hackmatrix.swift_env import protocol
from hackmatrix.swift_env.memory import SharedMemory
from hackmatrix.swift_env.process import DEADLINE, SPINS, SwiftEngineError, SwiftProcess, build_hint
from hackmatrix.swift_env.protocol import CommandRefused, FrameCommand, ObservationFormat, Rows
from rlparity import BatchEngine, BatchStep, Draw, EngineOptions, Phase, State, StateRefused
from rlparity.engine import Array, Closable, Slots
from rlparity.io.strict_json import json_text

T = TypeVar("T")
_SPINS_PER_GAME, _MOST_SPINS = 3, 1000
"""Polls before waiting: a poll takes at least half a microsecond, and a step almost one microsecond per game."""
_THOUSANDTHS = np.float32(1000)
_ONES = np.ones(len(COMPONENTS), np.int32)
"""Sums the components by a matrix product, which takes half the time of ``sum``."""
_EVENT_BITS = np.uint32((1 << len(EVENTS)) - 1)
"""Bits of the events; the protocol has one more, for a game that was restarted."""
_EVERY = protocol.games_of(None)

_HEAD = [("words", "<u4", 3), ("halves", "<u2", 2), ("bytes", "u1", (1,)), ("zeros", "u1", 7)]
_SNAPSHOT = [("words", "<u4", 4), ("halves", "<u2", 5), ("bytes", "u1", 10), ("zeros", "u1", 4), ("cells", "u1", 504)]
_PACKED = np.dtype([("head", _HEAD), ("now", _SNAPSHOT), ("history", _SNAPSHOT)])
"""A packed state, by the sizes of its numbers; docs/reference/protocol.md has their order and meaning."""


class SwiftEngine(BatchEngine, Closable):
    """``games`` games of the Swift engine, in a separate process; uses all options.

    Packed observations are uint8 (k, 1545) when sent through a pipe, but floats in shared memory. Arrays that
    methods return lie in buffers that the next call overwrites.

    Raises SwiftEngineError where the engine cannot be started, and later where it dies, violates the protocol or misses
    the deadline; raises CommandRefused where it refuses a command, which leaves the games as they were.
    """

    def __init__(self, games: int, options: EngineOptions = EngineOptions()) -> None:
        self.games = games
        self._memory = SharedMemory.open(protocol.size_of_rows(games, ObservationFormat.FLOATS))
        self._places: dict[FrameCommand, NDArray[np.uint8]] = {}
        """Places in shared memory for the rows of the step and of the restart that were sent."""
        self._restarts = (bytes(games), b"\1" * games)
        self._buffers: dict[FrameCommand, NDArray[np.uint8]] = {}
        self._views: dict[FrameCommand, tuple[NDArray[np.uint8], bytes, Rows]] = {}
        self._begun: tuple[bytes, bool] | None = None
        self._packed: NDArray[np.uint8] | None = None
        self._packs_each_step = False
        self._resting: Slots | None = None
        """Slots whose coming or begun step is ignored, because a restart follows it."""
        self._restarted: tuple[Slots, Rows] | None = None
        """Slots and rows of the restart that was sent together with the step."""
        with ExitStack() as undo:
            undo.callback(setattr, self, "_memory", None)  # an error's traceback may keep this object alive
            deadline = DEADLINE if options.deadline is None else options.deadline
            shared = () if self._memory is None else (self._memory.file.fileno(),)
            spins = min(SPINS + _SPINS_PER_GAME * games, _MOST_SPINS)
            self._process = SwiftProcess(deadline=deadline, descriptors=shared, spins=spins)
            undo.callback(self.close)
            self._open(options)
            undo.pop_all()
        self._marks_before = self._ask(FrameCommand.GET_MARKS, protocol.marks)[0] if options.marks else None

    def _open(self, options: EngineOptions) -> None:
        """Agree on the protocol and the memory, set the prices, and open the games."""
        self._process.send(protocol.hello())
        self._read(FrameCommand.HELLO, protocol.check_hello)
        if self._memory is not None:
            try:
                self._ask(FrameCommand.SHARE, protocol.content, self._memory.file.fileno(), self._memory.total)
                self._memory.file.close()
            except CommandRefused:  # the engine lacks this command or cannot map the memory, and uses the pipe
                self._memory = None
        if options.prices is not None:
            self._ask(FrameCommand.SET_PRICES, protocol.content, np.array(options.prices, "<i4"))
        is_compact = options.packed and self._memory is None
        self._observing = int(ObservationFormat.COMPACT if is_compact else ObservationFormat.FLOATS)
        self._rows = self._ask_rows(FrameCommand.OPEN, self.games, self._observing, np.zeros(self.games, "<u8"))

    def reset(self, seeds: NDArray[np.uint64], slots: Slots) -> NDArray[Any]:
        return self._placed(self._ask_rows(FrameCommand.RESET, protocol.games_of(slots), seeds.astype("<u8")), slots)

    def restart(self, slots: Slots) -> NDArray[Any]:
        restarted, self._restarted = self._restarted, None
        if restarted is not None and np.array_equal(restarted[0], slots):
            return self._placed(restarted[1], slots)
        return self._placed(self._ask_rows(FrameCommand.RESTART, protocol.games_of(slots)), slots)

    def rest(self, slots: Slots) -> None:
        """Send the restart that follows together with the step."""
        self._resting = slots

    def seeds(self) -> NDArray[np.uint64]:
        return self._rows.seeds

    def mask(self) -> NDArray[np.bool_]:
        return self._rows.mask

    def facts(self) -> NDArray[np.uint32]:
        return self._rows.facts[:, : len(FACTS)]

    def unpacked(self, observation: NDArray[Any]) -> NDArray[np.float32]:
        if observation.dtype == np.float32:
            lasts = self._memory is not None and self._memory.lasts(observation)
            return observation if lasts else observation.copy()
        return np.divide(observation, self._divisors, dtype=np.float32)

    def begin_step(self, actions: NDArray[np.int32], *, restarting: bool) -> None:
        """Send the step, which the process computes on its own core."""
        self._drop_unread()
        memory, step = self._memory, protocol.step(actions, self._restarts[restarting])
        self._send_placed(FrameCommand.STEP, step, memory.place() if memory else None)
        if self._packs_each_step:
            self._send(FrameCommand.GET_PACKED_STATES, _EVERY)
        if (resting := self._resting) is not None:
            size = protocol.size_of_rows(len(resting), self._observing)
            restart = protocol.request(FrameCommand.RESTART, protocol.games_of(resting))
            self._send_placed(FrameCommand.RESTART, restart, memory.second_place(size) if memory else None)
        self._begun = (actions.tobytes(), restarting)

    def receive_step(self) -> Rows:
        """Receive the rows (n) of the step that was sent; raises CommandRefused for an action outside 0 … 27."""
        self._rows = self._receive(FrameCommand.STEP)
        return self._rows

    def step(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=False)

    def step_restarting(self, actions: NDArray[np.int32]) -> BatchStep:
        return self._step(actions, restarting=True)

    def get_state(self, slots: Slots) -> list[State]:
        return self._ask(FrameCommand.GET_STATES, protocol.states, protocol.games_of(slots))

    def set_state(self, states: Sequence[State], slots: Slots) -> NDArray[Any]:
        try:
            rows = self._ask_rows(FrameCommand.SET_STATES, protocol.states_with_games(states, slots))
        except CommandRefused as refusal:
            raise StateRefused(str(refusal)) from refusal
        return self._placed(rows, slots)

    def state_arrays(self) -> Mapping[str, NDArray[Any]]:
        """Packed states, later sent with every step: ``scalars`` uint32 (n, 46), ``cells`` uint8 (n, 2, 14, 36)."""
        self._packs_each_step = True
        if self._packed is None:
            self._packed = self._ask(FrameCommand.GET_PACKED_STATES, protocol.packed_states, _EVERY)
        packed = self._packed.view(_PACKED)[:, 0]
        parts = [packed[name] for name in ("head", "now", "history")]
        scalars = [part[size].astype(np.uint32) for part in parts for size in ("words", "halves", "bytes")]
        cells = np.stack([part["cells"] for part in parts[1:]], axis=1)
        return {"scalars": np.concatenate(scalars, axis=1), "cells": cells.reshape(self.games, 2, 14, 36)}

    def marks(self) -> NDArray[np.integer[Any]] | None:
        if self._marks_before is None:
            return None
        return (self._ask(FrameCommand.GET_MARKS, protocol.marks)[0] - self._marks_before).astype(np.int64)

    def phases(self, state: State, actions: NDArray[Any]) -> tuple[Phase, ...]:
        text = json_text(state).encode()
        asked = struct.pack("<iI", int(actions[0]), len(text)), text
        try:
            told = self._ask(FrameCommand.GET_PHASES, protocol.json_content, *asked)
        except CommandRefused as refusal:
            raise SwiftEngineError(f"the Swift engine tells no phases ({refusal}): {build_hint()}.") from refusal
        return tuple(Phase(each["phase"], each["state"], tuple(map(_draw, each["draws"]))) for each in told)

    def rules(self) -> dict[str, Any]:
        """Every table of the rules in the engine's version."""
        return self._ask(FrameCommand.GET_RULES, protocol.json_content)

    def close(self) -> None:
        """End the process; closing twice is fine."""
        self._process.close()

    @cached_property
    def _divisors(self) -> NDArray[np.float32]:
        """Divisors of the values of a compact observation, float32 (1545,)."""
        layout = self.rules()["observation"]
        features = [*layout["player"], *layout["programs"], *(36 * layout["cell"])]
        return np.array([feature["divisor"] for feature in features], np.float32)

    def _step(self, actions: NDArray[np.int32], *, restarting: bool) -> BatchStep:
        if self._begun != (actions.tobytes(), restarting):
            self.begin_step(actions, restarting=restarting)
        self._begun = self._packed = None
        rows = self.receive_step()
        if self._packs_each_step:
            self._packed = self._read(FrameCommand.GET_PACKED_STATES, protocol.packed_states)
        resting, self._resting = self._resting, None
        self._restarted = None if resting is None else (resting, self._receive(FrameCommand.RESTART))
        return BatchStep(
            observation=rows.observation,
            components=rows.components,
            reward=(rows.components @ _ONES).astype(np.float32) / _THOUSANDTHS,
            terminated=rows.terminated,
            facts=self.facts(),
            events=rows.facts[:, -1] & _EVENT_BITS,
        )

    def _placed(self, rows: Rows, slots: Slots) -> NDArray[Any]:
        """Copy the rows of some slots into the rows of all slots; return the observations of the former."""
        every = self._rows
        every.seeds[slots], every.mask[slots], every.facts[slots] = rows.seeds, rows.mask, rows.facts
        self._begun = self._packed = self._resting = None
        return rows.observation

    def _ask_rows(self, command: FrameCommand, *parts: bytes | NDArray[Any] | int) -> Rows:
        return self._ask(command, lambda frame: self._rows_in(command, frame), *parts)

    def _ask(self, command: FrameCommand, parse: Callable[[NDArray[np.uint8]], T], *parts: bytes | Array | int) -> T:
        self._drop_unread()
        self._send(command, *parts)
        return self._read(command, parse)

    def _send(self, command: FrameCommand, *parts: bytes | NDArray[Any] | int) -> None:
        self._process.send(protocol.request(command, *parts))

    def _send_placed(self, command: FrameCommand, request: bytes, place: tuple[int, NDArray[np.uint8]] | None) -> None:
        """Send a request for rows, to be put at ``place`` in the shared memory, or in the reply if that is None."""
        if place is not None:
            offset, self._places[command] = place
            request = protocol.place(offset, request)
        self._process.send(request)

    def _receive(self, command: FrameCommand) -> Rows:
        """Receive the rows of a step or a restart, from the reply or from their place in the shared memory."""
        place = self._places.get(command)
        if place is None:
            return self._read(command, lambda frame: self._rows_in(command, frame))

        def placed(frame: NDArray[np.uint8]) -> Rows:
            protocol.check_placed(frame, len(place))
            return self._rows_in(command, place)

        return self._read(FrameCommand.PLACE, placed)

    def _drop_unread(self) -> None:
        """Skip answers that were never received, such as after Ctrl+C between the halves of a step."""
        while self._process.unread:
            self._process.receive()

    def _rows_in(self, command: FrameCommand, frame: NDArray[np.uint8]) -> Rows:
        """Parse the rows of a frame; reuses the last views where the frame has the same memory and header."""
        head = frame[: protocol.ROWS_HEAD].tobytes()
        kept_frame, kept_head, rows = self._views.get(command, (None, b"", None))
        if rows is None or frame is not kept_frame or head != kept_head:
            rows = protocol.rows(frame)
            self._views[command] = (frame, head, rows)
        return rows

    def _read(self, command: FrameCommand, parse: Callable[[NDArray[np.uint8]], T]) -> T:
        """Parse the next reply, read into a buffer that the command reuses, because fresh memory costs page faults."""
        frame = self._process.receive(self._buffers.get(command))
        if len(frame) > len(self._buffers.get(command, ())):
            self._buffers[command] = frame
        try:
            return parse(frame)
        except (ValueError, struct.error) as error:
            raise self._process.fault(f"answered against the protocol ({error})") from error


def _draw(told: Mapping[str, Any]) -> Draw:
    return Draw((told["event"], told["site"], told["index"]), told["word"])
