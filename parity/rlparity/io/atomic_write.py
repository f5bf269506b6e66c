"""Write files atomically, and check beforehand that they can be written.

A symbolic link is written through: the file that it points to is replaced, or made, and the link stays.
"""

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path

from rlparity.errors import UsageError

PART = ".part"
LONGEST_NAME = 255
"""Bytes that a file's name may have."""
_NO_SYNC_OF_FOLDERS = (errno.EACCES, errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
"""Errors of file systems that cannot force a folder to the disk, such as CIFS and sshfs, or may not open it."""


def check_output(path: Path, *, makes_folders: bool = False, streams: bool = False) -> None:
    """Raise UsageError where ``path`` cannot be written; commands call it before the work whose result goes there.

    Args:
        path: of a file, which is left as it is, or is not there yet.
        makes_folders: folders that are missing will be made.
        streams: a pipe, a device or a file in a folder that takes no new ones will do, as in ``write_output``.
    """
    with telling_failures(path):
        if streams and not is_replaceable(path):
            return
        folder = destination(path).parent
        if makes_folders:
            folder = next(each for each in (folder, *folder.parents) if each.exists())
        with tempfile.TemporaryFile(dir=folder):
            pass


def destination(path: Path) -> Path:
    """The regular file that is written for ``path``: itself, or what symbolic links point to; it need not be there.

    Raises OSError where it is, or would be, anything else.
    """
    if "\0" in str(path):  # of which ``os.stat`` raises ValueError
        raise OSError(errno.EINVAL, "No file can have this name")
    _kind(path)  # of a loop of links and the like, which ``realpath`` does not tell
    place = Path(os.path.realpath(path))
    kind = _kind(place)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind not in (None, stat.S_IFREG):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))  # such as /dev/null, which would be no device then
    if max(len(os.fsencode(part)) for part in (*place.parts, place.name + PART)) > LONGEST_NAME:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    return place


def _kind(path: Path) -> int | None:
    """The type of what a path, or a link there, leads to; None where there is nothing."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        return None


def is_replaceable(path: Path) -> bool:
    """Tell that a file, or nothing yet, is written by replacing it: no pipe or device, not where output goes already.

    ``/dev/stdout`` leads to a file where a shell says ``> file``: put another in its place, and output is lost.
    """
    kind = _kind(path)
    if kind != stat.S_IFREG:
        return kind in (None, stat.S_IFDIR)
    for stream in (1, 2):
        with contextlib.suppress(OSError):
            if os.path.samestat(os.fstat(stream), os.stat(path)):
                return False
    return os.access(destination(path).parent, os.W_OK) or not os.access(path, os.W_OK)


def write_output(path: Path, content: str | bytes) -> None:
    """Write what a command was asked for to a file, at once, or to a pipe or device; raises UsageError.

    A file has either all of it or what it had before, where its folder lets it be replaced.
    """
    data = content.encode() if isinstance(content, str) else content
    with telling_failures(path):
        if is_replaceable(path):
            write_whole(path, data)
        else:
            path.write_bytes(data)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once, as ``replacing`` does. Raises OSError as writing does."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text at once, in a folder that is made; raises UsageError where it cannot be written."""
    with telling_failures(path):
        destination(path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """A file to write to that becomes the ``destination`` of ``path`` once the context ends well, on the disk by then.

    Otherwise that stays what it was, and what was written is removed. Raises OSError as writing does.
    """
    place = destination(path)
    unfinished = place.with_name(place.name + PART)
    file = unfinished.open("wb")
    try:
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        unfinished.replace(place)
    except BaseException:  # the first error is the one to tell: a full disk takes no more on closing either
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(place.parent)


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
def telling_failures(path: Path, unknown: str = "the system does not say why") -> Iterator[None]:
    """Turn an OSError into a UsageError that says that the file cannot be written; ``unknown``: where it has none."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or unknown}; name another file.") from error
