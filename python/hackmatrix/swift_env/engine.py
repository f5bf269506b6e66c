"""Many games of the Swift engine in one process, as numpy arrays."""

import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hackmatrix.swift_env import protocol
from hackmatrix.swift_env.process import SwiftProcess
from hackmatrix.swift_env.protocol import Command, Observing, Rows

Slots = NDArray[np.intp]


class SwiftGames:
    """``num_games`` games, in slots 0 … n − 1, that start from ``seeds``, uint64 (n,).

    Rows that a method returns are overwritten by the next call. Raises SwiftEngineError when the engine
    cannot be started or dies, Refused (one) when it refuses what it is asked; the games are then as before.
    """

    def __init__(self, seeds: NDArray[np.uint64], observing: Observing = Observing.FLOATS) -> None:
        self.num_games = len(seeds)
        self._process = SwiftProcess()
        self._buffers: dict[Command, NDArray[np.uint8]] = {}
        try:
            self.num_marks = protocol.check_hello(self._ask_with(Command.HELLO, protocol.hello()))
            self.opened = protocol.rows(self._frame(Command.OPEN, self.num_games, int(observing), seeds.astype("<u8")))
        except BaseException:
            self.close()
            raise

    def send_step(
        self, actions: NDArray[np.int32], auto_reset: bool = False, seeds: NDArray[np.uint64] | None = None
    ) -> None:
        """Ask for one action (n,) in every game and do not wait; ``receive_step`` must follow.

        ``auto_reset``: games that end start anew at once, from ``seeds`` (n,) if given, else from R6's.
        """
        flags = 0 if seeds is None else 1
        given = b"" if seeds is None else seeds.astype("<u8").tobytes()
        restarts = np.full(self.num_games, auto_reset, np.uint8)
        self._process.send(protocol.request(Command.STEP, flags, actions.astype("<i4"), given, restarts))

    def receive_step(self) -> Rows:
        """The rows (n) of the step asked for; Refused for an action outside 0 … 27."""
        return protocol.rows(self._receive(Command.STEP))

    def reset(self, seeds: NDArray[np.uint64], slots: Slots | None = None) -> Rows:
        """Start new games from seeds (k,) in these slots, or in all."""
        return protocol.rows(self._frame(Command.RESET, protocol.games_of(slots), seeds.astype("<u8")))

    def restart(self, slots: Slots | None = None) -> Rows:
        """Start in these slots, or in all, the games that follow by R6."""
        return protocol.rows(self._frame(Command.RESTART, protocol.games_of(slots)))

    def observe(self) -> Rows:
        """The rows (n) of all games as they stand."""
        return protocol.rows(self._frame(Command.OBSERVE))

    def get_states(self, slots: Slots | None = None) -> list[dict[str, Any]]:
        """The complete states of these slots, or of all, as the dicts S of the protocol."""
        return protocol.states(self._ask(Command.GET_STATES, protocol.games_of(slots)))

    def set_states(self, states: Sequence[dict[str, Any]], slots: Slots) -> Rows:
        """Put states (k) into slots (k,), all or, when one is refused, none."""
        return protocol.rows(self._frame(Command.SET_STATES, protocol.states_with_games(states, slots)))

    def send_packed_states(self) -> None:
        """Ask for the packed states of all games and do not wait; ``receive_packed_states`` must follow."""
        self._process.send(protocol.request(Command.GET_PACKED_STATES, protocol.games_of(None)))

    def receive_packed_states(self) -> NDArray[np.uint8]:
        """The packed states asked for: uint8 (n, 1112)."""
        return protocol.packed_states(protocol.content(self._receive(Command.GET_PACKED_STATES)))

    def marks(self) -> tuple[NDArray[np.uint64], tuple[str, ...]]:
        """How often each mark fired since the process began, (M,), and the marks' names."""
        return protocol.marks(self._ask(Command.GET_MARKS))

    def rules(self) -> dict[str, Any]:
        """Every table of the rules as the engine holds it."""
        return dict(json.loads(self._ask(Command.GET_RULES).tobytes()))

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, command: Command, *parts: bytes | NDArray[Any] | int) -> NDArray[np.uint8]:
        return protocol.content(self._frame(command, *parts))

    def _ask_with(self, command: Command, body: bytes) -> NDArray[np.uint8]:
        self._process.send(body)
        return protocol.content(self._receive(command))

    def _frame(self, command: Command, *parts: bytes | NDArray[Any] | int) -> NDArray[np.uint8]:
        self._process.send(protocol.request(command, *parts))
        return self._receive(command)

    def _receive(self, command: Command) -> NDArray[np.uint8]:
        """The next reply, in a buffer that is used for this command again: fresh memory costs page faults."""
        frame = self._process.receive(self._buffers.get(command))
        if len(frame) > len(self._buffers.get(command, ())):
            self._buffers[command] = frame
        return frame
