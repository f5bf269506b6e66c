"""Folders of training runs: names, saved settings, and the lock by which one process at a time trains into one."""

import contextlib
import datetime
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import FileName
from rlparity.io.safe_read import MIB, Unreadable, is_object, read_json, refused
from rlparity.io.strict_json import is_json_number
from rlworldkit.runs.retrying_writer import reason

LOCK = "run.lock"
METRICS, CURVE, CONFIG = "metrics.csv", "learning_curve.png", "config.json"
"""Files that every run writes into its folder."""
LATEST = "latest"
"""Value of ``--resume`` for the furthest checkpoint of a folder's run."""
METRICS_LINES, EVALUATIONS = "metrics.jsonl", "evaluations.npz"
RECORDS = (METRICS, METRICS_LINES, CURVE, CONFIG, EVALUATIONS)
"""Files with settings and metrics of a run, whichever trainer writes them."""
_RESULTS = ("params_*.npz", METRICS, "*.zip")
"""Patterns of files that show that a folder holds a run."""
BEGAN = "began"
"""Key of the setting with the start time of a run."""
PRICES = "prices"
"""Key of the setting with the prices of the reward that override the world's own, by name."""
CONFIG_LIMIT = MIB
"""Size of the largest file of settings that is read, in bytes."""
_held: set[int] = set()
"""Descriptors of the locks that this process holds."""


def fresh_run_name(kind: str, seed: int) -> str:
    """Name of a new run, from its kind, its start time and its seed."""
    return f"{kind}-{datetime.datetime.now():%Y%m%d-%H%M%S}-seed{seed}"


def run_folder(parent: Path, flag: str, kind: str, seed: int, name: str | None, suffix: str | None = None) -> Path:
    """Create the folder of a new run, and make sure that it can be written to and holds no other run.

    Without a ``name`` the folder gets that of `fresh_run_name` with ``-suffix``, and a number if it exists already.
    Raises UsageError, which names ``flag`` if another parent would help.
    """
    whole = name or fresh_run_name(kind, seed) + (f"-{suffix}" if suffix else "")
    if fault := FileName().fault(whole):
        raise UsageError(f"A run's name {fault}, got {whole!r}: choose another --run-name or --run-suffix.")
    folder = parent / whole
    if name is None:
        with contextlib.suppress(OSError):  # make_folder reports the reason
            folder = _make_first(parent / (whole if number == 1 else f"{whole}-{number}") for number in count(1))
    make_folder(folder, f"choose another {flag}")
    if any(file.stat().st_size for pattern in _RESULTS for file in folder.glob(pattern)):
        raise UsageError(f"{folder} already holds a run; choose another --run-name or {flag}.")
    return folder


def make_folder(folder: Path, advice: str) -> None:
    """Create a folder if it does not exist; raises UsageError with ``advice`` if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL, which a TOML file may give
        fault = getattr(error, "strerror", None) or error
        raise UsageError(f"The output folder {folder} cannot be written ({fault}); {advice}.") from None


def move_aside(parent: Path, later: Iterable[Path], records: Iterable[Path]) -> Path:
    """Move the files ``later`` into a new folder ``abandoned-N``, copy ``records`` there, and return the folder.

    Raises UsageError if a file cannot be moved or copied.
    """
    try:
        folder = _make_first(parent / f"abandoned-{number}" for number in count(1))
        for path in records:
            if path.exists():
                shutil.copyfile(path, folder / path.name)
        for path in later:
            path.rename(folder / path.name)
    except OSError as error:
        raise UsageError(
            f"Files of later steps in {parent} could not be moved into a subfolder ({reason(error)}): make room, or "
            "move them away."
        ) from error
    return folder


def _make_first(folders: Iterator[Path]) -> Path:
    """Create the first of these folders that does not exist, even if other processes create some meanwhile."""
    for folder in folders:
        with contextlib.suppress(FileExistsError):
            folder.mkdir(parents=True)
            return folder
    raise AssertionError("there is always another name")


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


@contextlib.contextmanager
def locked(folder: Path, name: str = LOCK, refusal: str | None = None) -> Iterator[None]:
    """Hold a lock of ``folder``, on the file ``name``, which is never removed; the lock ends with the process at last.

    If the file system has no locks, nothing is held. Raises UsageError, with the sentence ``refusal`` if given, if
    another process or another run of this process holds the lock, and UsageError if the file cannot be created.
    """
    try:
        descriptor = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o666)  # not inherited by other programs
    except OSError as error:
        raise UsageError(f"{folder / name} cannot be written ({error.strerror}); choose another folder.") from None
    _held.add(descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _release(descriptor)
        raise UsageError(
            refusal or f"Another process is training into {folder}: let it end first, or start a run of another name."
        ) from None
    except OSError:  # the file system has no locks
        pass
    try:
        yield
    finally:
        _release(descriptor)


def _release(descriptor: int) -> None:
    if descriptor in _held:
        _held.remove(descriptor)
        os.close(descriptor)


def _let_go() -> None:
    """Release inherited locks in a forked process, which would keep them held after its parent is gone."""
    for descriptor in list(_held):
        _release(descriptor)


os.register_at_fork(after_in_child=_let_go)
