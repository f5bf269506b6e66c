"""Many games of the Swift engine in one process, as numpy arrays."""

import struct
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hackmatrix.swift_env import protocol
from hackmatrix.swift_env.memory import SharedMemory
from hackmatrix.swift_env.process import DEADLINE, SPINS, SwiftProcess
from hackmatrix.swift_env.protocol import Command, CommandRefused, ObservationFormat, Rows
from rlparity.engine import Closable
from rlparity.io.strict_json import json_text

Slots = NDArray[np.intp]
T = TypeVar("T")
_SPINS_PER_GAME, _MOST_SPINS = 3, 1000
"""A poll takes half a microsecond or more, and a step somewhat less than one for each game."""


class SwiftGames(Closable):
    """``num_games`` games, in slots 0 … n − 1, that start from ``seeds``, uint64 (n,).

    observing: format of the observations in rows; None: floats in shared memory, compact through a pipe.
    prices: those of table W, in its order and in thousandths; None: the game's own.

    Rows that a method returns are overwritten by the next call, except where ``lasts`` is true of their observation.
    Raises SwiftEngineError when the engine cannot be started, dies, or does not answer within ``deadline`` seconds,
    CommandRefused when it refuses a command; the games are then as before.
    """

    def __init__(
        self,
        seeds: NDArray[np.uint64],
        observing: ObservationFormat | None = ObservationFormat.FLOATS,
        deadline: float = DEADLINE,
        prices: Sequence[int] | None = None,
    ) -> None:
        self.num_games = len(seeds)
        in_memory = ObservationFormat.FLOATS if observing is None else observing
        self._memory = SharedMemory.open(protocol.size_of_rows(self.num_games, in_memory))
        self._places: dict[Command, NDArray[np.uint8]] = {}
        """Places in shared memory for the rows of the step and of the restart that were sent."""
        self._restarts = (bytes(self.num_games), b"\1" * self.num_games)
        shared = () if self._memory is None else (self._memory.file.fileno(),)
        spins = min(SPINS + _SPINS_PER_GAME * self.num_games, _MOST_SPINS)
        self._buffers: dict[Command, NDArray[np.uint8]] = {}
        self._views: dict[Command, tuple[NDArray[np.uint8], bytes, Rows]] = {}
        with ExitStack() as undo:
            undo.callback(setattr, self, "_memory", None)  # an error's trace may keep this object
            self._process = SwiftProcess(deadline=deadline, descriptors=shared, spins=spins)
            undo.callback(self.close)
            self._process.send(protocol.hello())
            self._read(Command.HELLO, protocol.check_hello)
            if self._memory is not None:
                try:
                    self._ask(Command.SHARE, protocol.content, self._memory.file.fileno(), self._memory.total)
                    self._memory.file.close()
                except CommandRefused:  # it knows of no memory, or cannot map it, and answers through the pipe
                    self._memory = None
            if prices is not None:
                self._ask(Command.SET_PRICES, protocol.content, np.array(prices, "<i4"))
            chosen = in_memory if self._memory is not None or observing is not None else ObservationFormat.COMPACT
            self._observing = int(chosen)
            self.opened = self._rows(Command.OPEN, self.num_games, int(chosen), seeds.astype("<u8"))
            undo.pop_all()

    def send_step(self, actions: NDArray[np.int32], auto_reset: bool = False) -> None:
        """Ask for one action (n,) in every game and do not wait; ``receive_step`` must follow.

        ``auto_reset``: games that end start anew at once, from R6's seeds.
        """
        self._drop_unread()
        step = protocol.step(actions, self._restarts[auto_reset])
        if self._memory is not None:
            offset, self._places[Command.STEP] = self._memory.place()
            step = protocol.place(offset, step)
        self._process.send(step)

    def receive_step(self) -> Rows:
        """The rows (n) of the step asked for; raises CommandRefused for an action outside 0 … 27."""
        return self._receive(Command.STEP)

    def lasts(self, observation: NDArray[Any]) -> bool:
        """True where the observation of a step stays as it is for as long as it is held, and may be written to."""
        return self._memory is not None and self._memory.lasts(observation)

    def reset(self, seeds: NDArray[np.uint64], slots: Slots | None = None) -> Rows:
        """Start new games from seeds (k,) in these slots, or in all."""
        return self._rows(Command.RESET, protocol.games_of(slots), seeds.astype("<u8"))

    def restart(self, slots: Slots | None = None) -> Rows:
        """Start in these slots, or in all, the games that follow by R6."""
        return self._rows(Command.RESTART, protocol.games_of(slots))

    def send_restart(self, slots: Slots) -> None:
        """Ask for ``restart`` and do not wait; ``receive_restart`` must follow."""
        restart = protocol.request(Command.RESTART, protocol.games_of(slots))
        size = protocol.size_of_rows(len(slots), self._observing)
        if self._memory is not None and (place := self._memory.second_place(size)) is not None:
            offset, self._places[Command.RESTART] = place
            restart = protocol.place(offset, restart)
        self._process.send(restart)

    def receive_restart(self) -> Rows:
        """The rows (k) of the restart asked for."""
        return self._receive(Command.RESTART)

    def observe(self) -> Rows:
        """The rows (n) of all games as they stand."""
        return self._rows(Command.OBSERVE)

    def get_states(self, slots: Slots | None = None) -> list[dict[str, Any]]:
        """The complete states of these slots, or of all, as the dicts S of the protocol."""
        return self._ask(Command.GET_STATES, protocol.states, protocol.games_of(slots))

    def set_states(self, states: Sequence[dict[str, Any]], slots: Slots) -> Rows:
        """Put states (k) into slots (k,), all or, when one is refused, none."""
        return self._rows(Command.SET_STATES, protocol.states_with_games(states, slots))

    def send_packed_states(self) -> None:
        """Ask for the packed states of all games and do not wait; ``receive_packed_states`` must follow."""
        self._process.send(protocol.request(Command.GET_PACKED_STATES, protocol.games_of(None)))

    def receive_packed_states(self) -> NDArray[np.uint8]:
        """The packed states asked for: uint8 (n, 1112)."""
        return self._read(Command.GET_PACKED_STATES, protocol.packed_states)

    def marks(self) -> tuple[NDArray[np.uint64], tuple[str, ...]]:
        """Counts of the marks since the process began, (M,), and their names."""
        return self._ask(Command.GET_MARKS, protocol.marks)

    def send_reading(self, command: Command) -> None:
        """Ask for the states of all games or the marks and do not wait; ``receive_reading`` must follow."""
        every = [protocol.games_of(None)] if command is Command.GET_STATES else []
        self._process.send(protocol.request(command, *every))

    def receive_reading(self, command: Command) -> Any:  # noqa: ANN401 - of get_states or of marks
        """What was asked for, as ``get_states`` or ``marks`` gives it."""
        return self._read(command, protocol.states if command is Command.GET_STATES else protocol.marks)

    def rules(self) -> dict[str, Any]:
        """Every table of the rules as the engine holds it."""
        return self._ask(Command.GET_RULES, protocol.json_content)

    def phases(self, state: dict[str, Any], action: int) -> list[dict[str, Any]]:
        """The phases of a step from a state S: ``phase``, ``state`` and ``draws`` of each."""
        text = json_text(state).encode()
        return self._ask(Command.GET_PHASES, protocol.json_content, struct.pack("<iI", action, len(text)), text)

    @cached_property
    def divisors(self) -> NDArray[np.float32]:
        """Divisors of the values of a compact observation, float32 (1545,)."""
        layout = self.rules()["observation"]
        features = [*layout["player"], *layout["programs"], *(36 * layout["cell"])]
        return np.array([feature["divisor"] for feature in features], np.float32)

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def _rows(self, command: Command, *parts: bytes | NDArray[Any] | int) -> Rows:
        return self._ask(command, lambda frame: self._rows_in(command, frame), *parts)

    def _receive(self, command: Command) -> Rows:
        """The rows of a step or a restart, in its reply or where they were to be placed."""
        place = self._places.get(command)
        if place is None:
            return self._read(command, lambda frame: self._rows_in(command, frame))
        return self._read(Command.PLACE, lambda frame: self._rows_placed(command, frame, place))

    def _rows_placed(self, command: Command, frame: NDArray[np.uint8], place: NDArray[np.uint8]) -> Rows:
        """The rows in a place of the shared memory, of which the reply gives the size."""
        protocol.check_placed(frame, len(place))
        return self._rows_in(command, place)

    def _ask(self, command: Command, parse: Callable[[NDArray[np.uint8]], T], *parts: bytes | NDArray[Any] | int) -> T:
        self._drop_unread()
        self._process.send(protocol.request(command, *parts))
        return self._read(command, parse)

    def _drop_unread(self) -> None:
        """Skip answers that were never received, such as after Ctrl+C between the halves of a step."""
        while self._process.unread:
            self._process.receive()

    def _rows_in(self, command: Command, frame: NDArray[np.uint8]) -> Rows:
        """The rows of a frame; those of the last one where it lies in the same memory in the same order."""
        head = frame[: protocol.ROWS_HEAD].tobytes()
        kept_frame, kept_head, rows = self._views.get(command, (None, b"", None))
        if rows is None or frame is not kept_frame or head != kept_head:
            rows = protocol.rows(frame)
            self._views[command] = (frame, head, rows)
        return rows

    def _read(self, command: Command, parse: Callable[[NDArray[np.uint8]], T]) -> T:
        """The next reply, in a buffer that is used for this command again: fresh memory costs page faults."""
        frame = self._process.receive(self._buffers.get(command))
        if len(frame) > len(self._buffers.get(command, ())):
            self._buffers[command] = frame
        try:
            return parse(frame)
        except (ValueError, struct.error) as error:
            raise self._process.fault(f"answered against the protocol ({error})") from error
