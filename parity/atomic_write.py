"""Write files atomically."""

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

from parity.errors import UsageError

PART = ".part"
_NO_SYNC_OF_FOLDERS = (errno.EACCES, errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
"""Errors of file systems that cannot force a folder to the disk, such as CIFS and sshfs, or may not open it."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once, as ``replacing`` does. Raises OSError as writing does."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text at once, in a folder that is made; raises UsageError where it cannot be written."""
    with telling_failures(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """A file to write to that becomes ``path`` once the context ends well, and is on the disk by then.

    Otherwise ``path`` stays what it was, and what was written is removed. Raises OSError as writing does.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))  # such as /dev/null, which would be no device then
    unfinished = path.with_name(path.name + PART)
    file = unfinished.open("wb")
    try:
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        unfinished.replace(path)
    except BaseException:  # the first error is the one to tell: a full disk takes no more on closing either
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Force a new name to the disk, where the file system can; the file itself is there by then."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC_OF_FOLDERS:
            raise


@contextmanager
def telling_failures(path: Path) -> Iterator[None]:
    """Turn an OSError into a UsageError that says that the file cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name a file in another folder.") from error
