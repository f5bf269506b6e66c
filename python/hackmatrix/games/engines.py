"""The two engines behind one interface: many games that take actions and answer with rows."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from hackmatrix.games.rows import Rows
from parity.errors import UsageError

EngineName = Literal["swift", "jax"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
DEADLINE = 10.0
"""Seconds that an engine may take for an answer."""

Slots = NDArray[np.intp]


class Games(Protocol):
    """n games in slots 0 … n − 1. Rows that a method returns may be overwritten by the next call."""

    @property
    def opened(self) -> Rows:
        """The rows (n) of the games as they started."""

    def send_step(self, actions: NDArray[np.int32], /) -> None:
        """Begin one action (n,), each in 0 … 27, in every game; ``receive_step`` must follow. No auto-reset."""

    def receive_step(self) -> Rows:
        """The rows (n) of the step begun."""

    def reset(self, seeds: NDArray[np.uint64], slots: Slots, /) -> Rows:
        """Start new games from seeds, uint64 (k,), in these slots (k,); their rows (k)."""

    def restart(self, slots: Slots, /) -> Rows:
        """Start in these slots (k,) the games that follow by R6; their rows (k)."""

    def get_states(self, slots: Slots | None = None, /) -> list[dict[str, Any]]:
        """The complete states of these slots, or of all, as the dicts S of the protocol."""

    def set_states(self, states: Sequence[dict[str, Any]], slots: Slots, /) -> Rows:
        """Put states (k) into slots (k,), all or, when one is refused, none; their rows (k)."""

    def floats(self, rows: Rows, /) -> NDArray[np.float32]:
        """The observations of rows (r), float32 (r, 1545), in an array of their own."""

    def close(self) -> None:
        """Let go of the games; done a second time, nothing."""


def open_games(engine: str, seeds: NDArray[np.uint64], deadline: float = DEADLINE) -> Games:
    """``len(seeds)`` games of the engine called ``swift`` or ``jax``, from seeds, uint64 (n,).

    Raises UsageError for another name, SwiftEngineError where the Swift engine cannot be started.
    """
    if engine == "swift":
        from hackmatrix.swift_env import Observing, SwiftGames

        return SwiftGames(seeds, Observing.COMPACT, deadline)
    if engine == "jax":
        from hackmatrix.games.jax_games import JaxGames

        return JaxGames(seeds)
    raise UsageError(f"there is no engine {engine!r}: choose {' or '.join(ENGINES)}.")
