"""The settings that a run keeps in its folder, as they are read again."""

from pathlib import Path
from typing import Any

from parity.errors import UsageError
from parity.reading import MIB, Unreadable, is_object, read_json
from worldkit.runs.folder import CONFIG

CONFIG_LIMIT = MIB
"""The largest file of settings that is read, in bytes."""


def kept_settings(folder: Path) -> dict[str, Any]:
    """What ``begin`` wrote down for the run in ``folder``; empty where it wrote nothing.

    Raises UsageError where there is something that cannot be read.
    """
    path = folder / CONFIG
    try:
        kept = read_json(path, CONFIG_LIMIT)
        if not is_object(kept):
            raise Unreadable("it is no object of settings")
        if not isinstance(kept.get("wandb_id"), str | None):
            raise Unreadable("its wandb_id is no text")
    except FileNotFoundError:
        return {}
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read: {fault}; mend it, or remove it to go on without it.") from fault
    return kept
