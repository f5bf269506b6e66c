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
"""The setting that tells when a run began."""
PRICES = "prices"
"""The setting that holds those prices of the reward that are not the game's own, by name."""
CONFIG_LIMIT = MIB
"""The largest file of settings that is read, in bytes."""


def read_saved_config(folder: Path) -> dict[str, Any]:
    """The settings that ``Run.begin`` saved in ``folder``; empty where it saved none.

    Raises UsageError where there is something that cannot be read.
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
    """The prices among the settings of a run, which ``path`` keeps; none in those of earlier versions.

    Raises UsageError where they are no numbers by name.
    """
    prices = settings.get(PRICES, {})
    if not (is_object(prices) and all(map(is_json_number, prices.values()))):
        raise UsageError(f"{path} keeps {quoted(prices)} as prices, which must be numbers by name: give another file.")
    return dict(prices)


def began(folder: Path) -> str:
    """The start time of a folder's run, as its settings tell it; empty where they do not.

    The times of files mean nothing: copying changes them.
    """
    with contextlib.suppress(UsageError):  # settings that cannot be read tell nothing
        saved = read_saved_config(folder).get(BEGAN)
        if isinstance(saved, str):
            return saved
    return ""


def now() -> str:
    """The time as a run's settings tell when it began: text whose order is that of time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
