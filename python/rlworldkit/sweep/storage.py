"""Optuna's storage of a sweep, and who runs the trials in it."""

import uuid
from pathlib import Path

from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

from rlparity.io.atomic_write import write_text

_OWNER = "sweep.id"


class Attribute:
    """Names of what a trial costs, its folder, who runs it, and the number of the trial whose runs it goes on with."""

    STEPS, CORE_SECONDS, FOLDER, OWNER, CONTINUES = "steps", "core_seconds", "folder", "owner", "continues"


def open_storage(where: str) -> BaseStorage:
    """Open a database by its URL, or a journal's file."""
    if "://" not in where:
        return JournalStorage(JournalFileBackend(where))
    is_sqlite = where.startswith("sqlite:")
    return RDBStorage(where, {"connect_args": {"timeout": 60}} if is_sqlite else None)  # seconds for another's writing


def shown_storage(where: str) -> str:
    """A storage as a message names it: of a database on a server the scheme alone, since the rest holds secrets."""
    scheme, colon, _ = where.partition("://")
    return where if scheme in ("sqlite", where) else f"{scheme}{colon}…"


def owner_of(folder: Path) -> str:
    """The name by which the folder's trials are known, whatever the machine and the path: made once, and kept in it."""
    path = folder / _OWNER
    if not path.exists():
        write_text(path, uuid.uuid4().hex)
    return path.read_text(errors="replace")
