"""A run that goes back to an earlier step: its later files are moved aside."""

import itertools
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from parity.errors import UsageError
from worldkit.runs.keeper import reason


def move_aside(parent: Path, later: Iterable[Path], records: Iterable[Path]) -> Path:
    """Move the files ``later`` into a new folder ``abandoned-N`` and copy ``records`` there; the folder.

    Raises UsageError where that cannot be done.
    """
    names = (parent / f"abandoned-{number}" for number in itertools.count(1))
    folder = next(name for name in names if not os.path.lexists(name))
    try:
        folder.mkdir()
        for path in records:
            if path.exists():
                shutil.copyfile(path, folder / path.name)
        for path in later:
            path.rename(folder / path.name)
    except OSError as error:
        raise UsageError(
            f"What came after the step to resume from could not be moved into {folder} ({reason(error)}): make room, "
            "or move it away."
        ) from error
    return folder
