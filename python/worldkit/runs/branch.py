"""A run that goes back to an earlier step: its later files are moved aside."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from parity.errors import UsageError
from worldkit.runs.retrying_writer import reason


def move_aside(parent: Path, later: Iterable[Path], records: Iterable[Path]) -> Path:
    """Move the files ``later`` into a new folder ``abandoned-N`` and copy ``records`` there; the folder.

    Raises UsageError where that cannot be done.
    """
    try:
        folder = _new_folder(parent)
        for path in records:
            if path.exists():
                shutil.copyfile(path, folder / path.name)
        for path in later:
            path.rename(folder / path.name)
    except OSError as error:
        raise UsageError(
            f"What {parent} holds of later steps could not be moved into a subfolder ({reason(error)}): make room, or "
            "move it away."
        ) from error
    return folder


def _new_folder(parent: Path) -> Path:
    number = 1
    while True:
        folder = parent / f"abandoned-{number}"
        try:
            folder.mkdir()
        except FileExistsError:  # of an earlier branch, or of another process just now
            number += 1
        else:
            return folder
