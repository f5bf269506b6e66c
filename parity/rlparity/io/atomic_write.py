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
"""Maximum bytes of a file's name."""
_NO_SYNC_OF_FOLDERS = (errno.EACCES, errno.EBADF, errno.EINVAL, errno.EISDIR, errno.ENOSYS, errno.ENOTSUP, errno.EPERM)
"""Errors of file systems that cannot sync a folder to the disk, such as CIFS and sshfs, or may not open it."""


def check_output(path: Path, *, makes_folders: bool = False, streams: bool = False) -> None:
    """Raise UsageError where ``path`` cannot be written; commands call it before the work whose result goes there.

    Args:
        path: of an existing file, which is not changed, or of a new one.
        makes_folders: accept missing folders, which will be made later.
        streams: accept a pipe, a device or a file in a folder that takes no new ones, as ``write_output`` does.
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
    """Resolve ``path`` to the regular file to write: itself, or the target of symbolic links; it need not exist.

    Raises OSError where it is, or would be, anything else.
    """
    if "\0" in str(path):  # ``os.stat`` would raise ValueError
        raise OSError(errno.EINVAL, "No file can have this name")
    _kind(path)  # raises for a loop of links and the like, which ``realpath`` ignores
    place = Path(os.path.realpath(path))
    kind = _kind(place)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind not in (None, stat.S_IFREG):
        raise OSError(errno.EINVAL, "Not a regular file", str(path))  # replacing /dev/null would delete the device
    if max(len(os.fsencode(part)) for part in (*place.parts, place.name + PART)) > LONGEST_NAME:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), str(path))
    return place


def _kind(path: Path) -> int | None:
    """File type at a path (``stat.S_IFMT``), links followed; None where nothing exists."""
    try:
        return stat.S_IFMT(os.stat(path).st_mode)
    except FileNotFoundError:
        return None


def is_replaceable(path: Path) -> bool:
    """Tell whether writing replaces a file or makes one; false for a pipe, a device and the file of redirected output.

    ``/dev/stdout`` leads to a file after a shell's ``> file``, and replacing that file would lose output.
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
    """Write a command's result to a file, atomically, or to a pipe or device; raises UsageError.

    A file is written atomically only where its folder lets it be replaced.
    """
    data = content.encode() if isinstance(content, str) else content
    with telling_failures(path):
        if is_replaceable(path):
            write_whole(path, data)
        else:
            path.write_bytes(data)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically, as ``replacing`` does. Raises OSError as writing does."""
    with replacing(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text atomically, and make its folder; raises UsageError where it cannot be written."""
    with telling_failures(path):
        destination(path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """Open a temporary file that replaces the ``destination`` of ``path``, synced to disk, when the context succeeds.

    Otherwise the destination stays as it was, and the temporary file is removed. Raises OSError as writing does.
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
    except BaseException:  # keeps the first error: on a full disk, closing fails too
        with contextlib.suppress(OSError):
            file.close()
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(place.parent)


def _sync_folder(folder: Path) -> None:
    """Sync a folder with its new name to the disk, where the file system can; the file itself is synced already."""
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
    """Turn an OSError into a UsageError that the file cannot be written; ``unknown``: reason where it has none."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or unknown}; name another file.") from error
