"""Files that are there whole or not at all, whatever happens while they are written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

PART = ".part"


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that becomes ``path`` once the context ends well, and is on the disk by then.

    Otherwise ``path`` stays what it was, and what was written is removed. Raises OSError as writing does.
    """
    unfinished = path.with_name(path.name + PART)
    try:
        with unfinished.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """A new name is only safe once its folder is on the disk too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
