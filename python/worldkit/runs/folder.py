"""Folders of training runs."""

import datetime
import tempfile
from pathlib import Path

from parity.arguments import FileName
from parity.errors import UsageError

METRICS, CURVE, CONFIG = "metrics.csv", "learning_curve.png", "config.json"
"""What every run writes into its folder."""
METRICS_LINES, EVALUATIONS = "metrics.jsonl", "evaluations.npz"
RECORDS = (METRICS, METRICS_LINES, CURVE, CONFIG, EVALUATIONS)
"""The files in which a run tells of itself, whichever trainer writes them."""
_RESULTS = ("params_*.npz", METRICS, "*.zip")
"""What a run leaves once it has come to something."""


def fresh_run_name(kind: str, seed: int) -> str:
    """A name that says when a run began, of what kind it is and from which seed."""
    return f"{kind}-{datetime.datetime.now():%Y%m%d-%H%M%S}-seed{seed}"


def run_folder(parent: Path, flag: str, kind: str, seed: int, name: str | None, suffix: str | None = None) -> Path:
    """Create the folder of a new run, and make sure that it can be written to and holds no other run.

    Without a ``name`` it has one of its own, even when two begin in the same second: as `fresh_run_name` has it, with
    ``-suffix``. Raises UsageError, which names ``flag`` where another parent would help.
    """
    whole = name or fresh_run_name(kind, seed) + (f"-{suffix}" if suffix else "")
    if fault := FileName().fault(whole):
        raise UsageError(f"A run's name {fault}, got {whole!r}: choose another --run-name or --run-suffix.")
    number, folder = 1, parent / whole
    while name is None and not _is_ours(folder):
        number += 1
        folder = parent / f"{whole}-{number}"
    make_folder(folder, f"choose another {flag}")
    if any(file.stat().st_size for pattern in _RESULTS for file in folder.glob(pattern)):
        raise UsageError(f"{folder} already holds a run; choose another --run-name or {flag}.")
    return folder


def make_folder(folder: Path, advice: str) -> None:
    """Create a folder where there is none; raises UsageError with ``advice`` where it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise UsageError(f"The output folder {folder} cannot be written ({error.strerror}); {advice}.") from None


def _is_ours(folder: Path) -> bool:
    """Make a folder; false where another run has it. What else goes wrong is said when it is written to."""
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        return not isinstance(error, FileExistsError)
    return True
