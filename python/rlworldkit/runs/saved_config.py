"""Read the settings that a run saved in its folder, and when it began."""

import contextlib
import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlparity.errors import UsageError, quoted
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json, refused
from rlparity.io.strict_json import is_json_number
from rlworldkit.runs.folder import CONFIG

BEGAN = "began"
"""Key of the setting with the start time of a run."""
PRICES = "prices"
"""Key of the setting with the prices of the reward that override the world's own, by name."""
CONFIG_LIMIT = MIB
"""Size of the largest file of settings that is read, in bytes."""


def read_saved_config(folder: Path) -> dict[str, Any]:
    """Read the settings that ``Run.begin`` saved in ``folder``; empty if there are none.

    Raises UsageError if the file exists but cannot be read.
    """
    path = folder / CONFIG
    try:
        with refused(path, "file of settings", broken="fix it, or remove it to go on without it"):
            saved = read_json(path, CONFIG_LIMIT)
            if not is_object(saved):
                raise Unreadable("it is no object of settings")
            if not isinstance(saved.get("wandb_id"), str | None):
                raise Unreadable("its wandb_id is no text")
            return saved
    except FileNotFoundError:
        return {}


def saved_prices(settings: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Get the prices from the settings of a run, which ``path`` holds; empty in settings of earlier versions.

    Raises UsageError if they are not numbers by name.
    """
    prices = settings.get(PRICES, {})
    if not (is_object(prices) and all(map(is_json_number, prices.values()))):
        raise UsageError(f"{path} keeps {quoted(prices)} as prices, which must be numbers by name: give another file.")
    return dict(prices)


def began(folder: Path) -> str:
    """Start time of a folder's run, from its settings; empty if it is unknown.

    Modification times of files are not used, since copying changes them.
    """
    with contextlib.suppress(UsageError):  # unreadable settings count as missing
        saved = read_saved_config(folder).get(BEGAN)
        if isinstance(saved, str):
            return saved
    return ""


def now() -> str:
    """Current time in the format of the setting ``BEGAN``: text that sorts by time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
