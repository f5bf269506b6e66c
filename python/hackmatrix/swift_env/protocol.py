"""Frames of the binary protocol (docs/reference/protocol.md, "Binary mode") as pure functions on bytes."""

import json
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hackmatrix.rules import COMPONENTS, FACTS, NUM_ACTIONS, OBSERVATION_SIZE
from hackmatrix.swift_env.process import SwiftEngineError, build_hint
from rlparity.errors import ParityError
from rlparity.io.strict_json import json_text

VERSION = 3
ALL_GAMES = 2**32 - 1
NUM_COMPONENTS = len(COMPONENTS)
NUM_FACTS = len(FACTS) + 1
"""Facts of a row: those of the rules, then the sum of the row's flags."""
_WORD = struct.Struct("<I")
_TWO_WORDS = struct.Struct("<II")
_U8, _I4, _U4, _F4, _BYTE, _BOOL = (np.dtype(name) for name in ("<u8", "<i4", "<u4", "<f4", "u1", "?"))
_MAGIC = b"HKMX"
_DONE, _REFUSED = 0, 1
_OBSERVATION_BYTES = {1: 4 * OBSERVATION_SIZE, 2: OBSERVATION_SIZE}
_ROW_BYTES = 8 + 4 * NUM_COMPONENTS + 4 * NUM_FACTS + NUM_ACTIONS + 1
ROWS_HEAD = 16


class FrameCommand(IntEnum):
    """Commands of frames."""

    HELLO = 0
    OPEN = 1
    STEP = 2
    OBSERVE = 3
    RESET = 4
    GET_STATES = 5
    SET_STATES = 6
    GET_MARKS = 7
    RESET_MARKS = 8
    SET_OBSERVATION = 9
    GET_RULES = 10
    GET_PACKED_STATES = 11
    RESTART = 12
    SHARE = 13
    PLACE = 14
    SET_PRICES = 15
    GET_PHASES = 16


class ObservationFormat(IntEnum):
    """Format of observations in rows: floats, or their small integers (one byte each)."""

    FLOATS = 1
    COMPACT = 2


class Rows(NamedTuple):
    """Rows of r games; the next answer to the same command may overwrite the arrays.

    seeds: uint64 (r,). components: int32 (r, 15), thousandths. facts: uint32 (r, 5): stage, score, hp, turn,
    flags. observation: float32 or, compact, uint8 (r, 1545). mask: bool (r, 28). terminated: bool (r,).
    """

    seeds: NDArray[np.uint64]
    components: NDArray[np.int32]
    facts: NDArray[np.uint32]
    observation: NDArray[Any]
    mask: NDArray[np.bool_]
    terminated: NDArray[np.bool_]


class CommandRefused(ParityError):
    """The engine refused a command; every game is as it was."""


class ProtocolError(ValueError):
    """An answer that violates the protocol."""


def request(command: FrameCommand, *parts: bytes | NDArray[Any] | int) -> bytes:
    """A frame's body: the command, then the parts; an int is a uint32."""
    body = [_WORD.pack(part) if isinstance(part, int) else bytes(part) for part in parts]
    return b"".join([_WORD.pack(command), *body])


def step(actions: NDArray[np.int32], auto_reset: bytes) -> bytes:
    """The request of a step: an action (n,) and an auto-reset flag for every game; R6 gives the seeds of new games."""
    return b"".join((_TWO_WORDS.pack(FrameCommand.STEP, False), actions.astype(_I4, copy=False).tobytes(), auto_reset))


def place(offset: int, rows_request: bytes) -> bytes:
    """Wrap a request so that its rows are written at an offset of the shared memory."""
    return _TWO_WORDS.pack(FrameCommand.PLACE, offset) + rows_request


def hello() -> bytes:
    """The first request of every connection."""
    return request(FrameCommand.HELLO, _MAGIC, VERSION)


def games_of(slots: NDArray[np.intp] | None) -> bytes:
    """Encode *games* of the protocol: a count and game numbers, or all games where ``slots`` is None."""
    return _WORD.pack(ALL_GAMES) if slots is None else _WORD.pack(len(slots)) + slots.astype("<u4").tobytes()


def states_with_games(states: Sequence[dict[str, Any]], slots: NDArray[np.intp]) -> bytes:
    """The body of setStates: a count, then game, length and JSON text of each."""
    texts = [json_text(state).encode() for state in states]
    heads = [_TWO_WORDS.pack(game, len(text)) for game, text in zip(slots.tolist(), texts, strict=True)]
    return _WORD.pack(len(states)) + b"".join(head + text for head, text in zip(heads, texts, strict=True))


def content(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Check the status of a reply and return the rest of its frame.

    Raises CommandRefused with the engine's sentence, ProtocolError, or struct.error where the frame is too short.
    """
    status = _uint32(frame, 0)
    if status == _DONE:
        return frame[4:]
    if status == _REFUSED:
        raise CommandRefused(frame[4:].tobytes().decode(errors="replace"))
    raise ProtocolError(f"status {status}")


def json_content(frame: NDArray[np.uint8]) -> Any:  # noqa: ANN401 - a JSON value
    """The JSON value of a reply; raises as ``content``, or ValueError where the text is not JSON."""
    return json.loads(content(frame).tobytes())


def check_hello(frame: NDArray[np.uint8]) -> None:
    """Check the reply to hello; raises SwiftEngineError when the engine has another version, else as ``content``."""
    body = content(frame)
    if len(body) < 24:
        raise ProtocolError(f"a greeting of {len(body)} bytes")
    version, *sizes = (_uint32(body, 4 * i) for i in range(5))
    if version != VERSION or sizes != [OBSERVATION_SIZE, NUM_ACTIONS, NUM_COMPONENTS, NUM_FACTS]:
        raise SwiftEngineError(
            f"the Swift engine speaks version {version} of the protocol and not {VERSION}: {build_hint()}."
        )


def size_of_rows(count: int, observing: int) -> int:
    """Bytes of a reply with ``count`` rows."""
    return ROWS_HEAD + count * (_ROW_BYTES + _OBSERVATION_BYTES[observing])


def check_placed(frame: NDArray[np.uint8], size: int) -> None:
    """Check that a reply reports ``size`` bytes of rows in shared memory; raises CommandRefused or ProtocolError."""
    if frame.tobytes() != _TWO_WORDS.pack(_DONE, size):
        raise ProtocolError(f"no {size} bytes of rows in the shared memory, but {content(frame).tobytes()[:16]!r}")


def rows(frame: NDArray[np.uint8]) -> Rows:
    """The rows of a reply; raises CommandRefused, or ProtocolError when the frame's size does not fit its rows."""
    content(frame)
    if len(frame) < ROWS_HEAD:
        raise ProtocolError(f"rows of {len(frame)} bytes")
    count, observing = _uint32(frame, 4), _uint32(frame, 8)
    if observing not in _OBSERVATION_BYTES or len(frame) != size_of_rows(count, observing):
        raise ProtocolError(f"{count} rows in observation mode {observing} in {len(frame)} bytes")
    offset = ROWS_HEAD

    def take(dtype: np.dtype[Any], *columns: int) -> NDArray[Any]:
        nonlocal offset
        part: NDArray[Any] = np.ndarray((count, *columns), dtype, frame, offset)
        offset += part.nbytes
        return part

    seeds, components, facts = take(_U8), take(_I4, NUM_COMPONENTS), take(_U4, NUM_FACTS)
    floats = take(_F4, OBSERVATION_SIZE) if observing == ObservationFormat.FLOATS else None
    mask, terminated = take(_BOOL, NUM_ACTIONS), take(_BOOL)
    observation = take(_BYTE, OBSERVATION_SIZE) if floats is None else floats
    return Rows(seeds, components, facts, observation, mask, terminated)


def states(frame: NDArray[np.uint8]) -> list[dict[str, Any]]:
    """The states of a getStates reply; raises as ``content``, like the next two functions."""
    body, found, offset = content(frame), [], 4
    for _ in range(_uint32(body, 0)):
        length = _uint32(body, offset)
        found.append(json.loads(body[offset + 4 : offset + 4 + length].tobytes()))
        offset += 4 + length
    return found


def packed_states(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The records of a getPackedStates reply: uint8 (k, 1112)."""
    body = content(frame)
    return body[8:].reshape(_uint32(body, 0), _uint32(body, 4))


def marks(frame: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], tuple[str, ...]]:
    """Counts (M,) and names of a getMarks reply."""
    body = content(frame)
    count = _uint32(body, 0)
    end = 4 + 8 * count
    return np.frombuffer(body[4:end].tobytes(), "<u8"), tuple(body[end:].tobytes().decode().split())


def _uint32(body: NDArray[np.uint8], offset: int) -> int:
    return int(_WORD.unpack_from(body.data, offset)[0])
