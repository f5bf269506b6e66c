"""Memory shared with the engine, into which the engine writes its rows (docs/reference/protocol.md)."""

import contextlib
import mmap
import os
import tempfile
import weakref
from typing import IO, Self

import numpy as np
from numpy.typing import NDArray

from rlparity.errors import UsageError

TRANSPORT_VARIABLE = "HACKMATRIX_TRANSPORT"
MEMORY, PIPE = "memory", "pipe"
_LASTING_PLACES = 4
"""One for the latest answer, one for the answer before it, and two for arrays that a caller keeps."""
_SMALL = 1 << 16
"""Bytes below which copying rows is faster than making new views of them in a lasting place."""
_MOST_BYTES = 256 * 2**20
_ALIGNMENT = 64


class SharedMemory:
    """Places for answers of ``size`` bytes each, in a file without a name, which disappears with its last user.

    A lasting place is taken for as long as somebody holds its array. The passing place is for small answers, and for
    callers that hold all lasting places; the next answer in it overwrites it. So does the next answer in the second
    place, which exists unless answers are small, and is for a request that is sent together with a step.

    file: inherited by the engine; the caller closes it when the engine has mapped it.

    Raises OSError where the system cannot provide the memory.
    """

    def __init__(self, size: int) -> None:
        self._size, self._stride = size, -(-size // _ALIGNMENT) * _ALIGNMENT
        lasting = range(1, 1) if size < _SMALL else range(1, 1 + _LASTING_PLACES)
        second = lasting.stop
        self.total = (second + 1 if lasting else 1) * self._stride
        self.file = nameless_file("hackmatrix-rows")
        if hasattr(os, "memfd_create"):
            self.file.truncate(self.total)
        else:
            self.file.write(bytes(self.total))  # not sparse: a full disk must fail here, not when the engine writes
        self._map = mmap.mmap(self.file.fileno(), self.total)
        self._passing = self._array(0)
        self._second = (second * self._stride, self._array(second)) if lasting else None
        self._lasting: dict[int, weakref.ref[NDArray[np.uint8]] | None] = dict.fromkeys(lasting)
        """The last array that was handed out for each lasting place."""
        _OPEN.add(self)

    @classmethod
    def open(cls, size: int) -> Self | None:
        """Open the memory; returns None where it is switched off, would be too large, or the system has none.

        Raises UsageError where HACKMATRIX_TRANSPORT is neither ``memory`` nor ``pipe``.
        """
        wanted = os.environ.get(TRANSPORT_VARIABLE, MEMORY)
        if wanted not in (MEMORY, PIPE):
            raise UsageError(f"{TRANSPORT_VARIABLE} is {wanted!r}: choose {MEMORY} or {PIPE}.")
        with contextlib.suppress(OSError):
            return cls(size) if wanted == MEMORY and size <= _MOST_BYTES else None
        return None

    def place(self) -> tuple[int, NDArray[np.uint8]]:
        """Choose a place for the next answer: its offset and its bytes, uint8 (size,)."""
        for number in self._free():
            array = self._array(number)
            self._lasting[number] = weakref.ref(array)
            return number * self._stride, array
        return 0, self._passing

    def second_place(self, size: int) -> tuple[int, NDArray[np.uint8]] | None:
        """The place for the answer to a request sent together with a step: its offset and its bytes, uint8 (size,)."""
        return self._second and (self._second[0], self._second[1][:size])

    def lasts(self, view: NDArray[np.generic]) -> bool:
        """Return whether a view is of a lasting place, which keeps its content while the view is held."""
        return view.base is not None and any(held and held() is view.base for held in self._lasting.values())

    def keep_what_is_held(self) -> None:
        """Before a fork, give up every place that is held now, since the child's arrays are not known here."""
        self._lasting = dict.fromkeys(self._free())

    def _free(self) -> list[int]:
        return [number for number, holder in self._lasting.items() if holder is None or holder() is None]

    def _array(self, number: int) -> NDArray[np.uint8]:
        return np.frombuffer(self._map, np.uint8, self._size, number * self._stride)


_OPEN: "weakref.WeakSet[SharedMemory]" = weakref.WeakSet()


def _keep_all() -> None:
    for memory in list(_OPEN):
        memory.keep_what_is_held()


os.register_at_fork(before=_keep_all)


def nameless_file(label: str) -> IO[bytes]:
    """An empty file without a name: in memory where the system can, else on disk; raises OSError without either."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create(label), "w+b", buffering=0)
    return tempfile.TemporaryFile(buffering=0)
