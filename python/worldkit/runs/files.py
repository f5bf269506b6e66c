"""A file that grows by whole pieces, whatever happens while they are written."""

import contextlib
import os
from pathlib import Path


class AppendedFile:
    """A file that grows by whole pieces.

    Args:
        path: the file, which need not exist yet.
        length: how many bytes of it count; what lies beyond is half a piece.
    """

    def __init__(self, path: Path, length: int = 0) -> None:
        self._path, self._length = path, length

    def append(self, piece: bytes) -> None:
        """Add all of ``piece``. Raises OSError as writing does, and then the file is as long as it was."""
        try:
            with self._path.open("ab") as file:
                file.truncate(min(self._length, file.tell()))
                file.write(piece)
        except OSError:
            with contextlib.suppress(OSError):  # else the next call does it
                os.truncate(self._path, min(self._length, self._path.stat().st_size))
            raise
        self._length = self._path.stat().st_size
