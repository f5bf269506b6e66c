"""Files that are there whole or not at all, whatever happens while they are written."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter
from pathlib import Path
from typing import Any

PART = ".part"


def write_json(path: Path, value: Any) -> None:  # noqa: ANN401 - whatever JSON can say
    """Write plain values, indented; what is not plain by its ``repr``. Raises OSError as writing does."""
    with replacing(path) as file:
        file.write((json.dumps(value, indent=2, default=repr) + "\n").encode())


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
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
