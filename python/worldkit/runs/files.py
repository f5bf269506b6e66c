"""Files that are there whole or not at all, whatever happens while they are written."""

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

PART = ".part"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once, as ``replacing`` does. Raises OSError as writing does."""
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """A file to write to that becomes ``path`` once the context ends well, and is on the disk by then.

    Otherwise ``path`` stays what it was, and what was written is removed. Raises OSError as writing does.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))  # such as /dev/null, which would be no device then
    unfinished = path.with_name(path.name + PART)
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # a disk that cannot be written: the first error is the one to tell
            unfinished.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """A new name is only safe once its folder is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
