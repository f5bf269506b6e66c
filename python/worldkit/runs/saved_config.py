"""Read the settings that a run saved in its folder."""

from pathlib import Path
from typing import Any

from parity.errors import UsageError
from parity.reading import MIB, Unreadable, is_object, read_json
from worldkit.runs.folder import CONFIG

CONFIG_LIMIT = MIB
"""The largest file of settings that is read, in bytes."""


def read_saved_config(folder: Path) -> dict[str, Any]:
    """The settings that ``Run.begin`` saved in ``folder``; empty where it saved none.

    Raises UsageError where there is something that cannot be read.
    """
    path = folder / CONFIG
    try:
        saved = read_json(path, CONFIG_LIMIT)
        if not is_object(saved):
            raise Unreadable("it is no object of settings")
        if not isinstance(saved.get("wandb_id"), str | None):
            raise Unreadable("its wandb_id is no text")
    except FileNotFoundError:
        return {}
    except Unreadable as fault:
        raise UsageError(f"{path} cannot be read: {fault}; mend it, or remove it to go on without it.") from fault
    return saved
