"""Messages between a remote engine and its server: a JSON header and the bytes of its arrays, never pickled."""

import json
import struct
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from rlparity.engine import Array, BatchStep, Draw, Phase

VERSION = 1
"""Version of the protocol, which the server's first message states."""
_LENGTH = struct.Struct("<I")
_ARRAY, _STEP, _PHASE = "\0array", "\0step", "\0phase"
_NUMBERS = frozenset("biufU")
"""Kinds of dtypes that can be sent: bool, integers, floats and texts; structured ones of these, too."""


@dataclass
class Channel:
    """Channel for dicts of JSON values, arrays, BatchSteps and Phases over two buffered binary files.

    A message is the length of its header (uint32, little-endian), the header, and the bytes of the arrays in the order
    in which the header names them by dtype and shape.
    """

    source: IO[bytes]
    sink: IO[bytes]
    _arrays: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Create the JSON encoder and decoder, once for all messages."""
        self._encode = json.JSONEncoder(default=self._header_of).encode
        self._decode = json.JSONDecoder(object_hook=self._value_of).decode

    def send(self, message: dict[str, Any]) -> None:
        """Send one message. Raises OSError where the other end is closed, TypeError for values that cannot be sent."""
        self._arrays.clear()
        header = self._encode(message).encode()
        self.sink.write(_LENGTH.pack(len(header)) + header)
        for array in self._arrays:
            self.sink.write(array.reshape(-1).view(np.uint8).data)
        self.sink.flush()

    def receive(self) -> dict[str, Any]:
        """Receive a message. Raises EOFError where the other end is closed, ValueError or TypeError for other bytes."""
        self._arrays.clear()
        (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
        message: dict[str, Any] = self._decode(self._read(length).decode())
        for array in self._arrays:
            if self.source.readinto(array.reshape(-1).view(np.uint8)) != array.nbytes:  # type: ignore[attr-defined]
                raise EOFError
        return message

    def _read(self, size: int) -> bytes:
        content = self.source.read(size)
        if len(content) < size:
            raise EOFError
        return content

    def _header_of(self, value: object) -> dict[str, Any]:
        if isinstance(value, BatchStep):
            return {_STEP: vars(value)}
        if isinstance(value, Phase):
            return {_PHASE: [value.name, value.state, value.draws and [[*vars(draw).values()] for draw in value.draws]]}
        if not isinstance(value, np.ndarray) or not _NUMBERS.issuperset(_kinds(value.dtype)):
            raise TypeError(f"it gives a value of type {getattr(value, 'dtype', type(value).__name__)}, not of numbers")
        self._arrays.append(np.ascontiguousarray(value))
        return {_ARRAY: (value.dtype.str if value.dtype.names is None else value.dtype.descr, value.shape)}

    def _value_of(self, header: dict[str, Any]) -> Any:  # noqa: ANN401 - what _header_of was given
        if _ARRAY in header:
            dtype, shape = header[_ARRAY]
            if isinstance(dtype, list):  # fields, with JSON's lists for tuples
                dtype = [(name, kind, *map(tuple, sizes)) for name, kind, *sizes in dtype]
            self._arrays.append(array := np.empty(shape, dtype))
            return array
        if _PHASE in header:
            name, state, draws = header[_PHASE]
            return Phase(name, state, draws if draws is None else tuple(Draw(tuple(at), word) for at, word in draws))
        return BatchStep(**header[_STEP]) if _STEP in header else header


def _kinds(dtype: np.dtype[Any]) -> set[str]:
    return {dtype.kind} if dtype.fields is None else {field[0].base.kind for field in dtype.fields.values()}
