"""Optuna's storage of a sweep, and who runs the trials in it."""

import re
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial

from rlparity.io.atomic_write import write_text

SILENCE = timedelta(minutes=15)
"""A trial of another machine is taken for dead when nothing has been heard of it for so long."""
_OWNER = "sweep.id"


class Attribute:
    """Names of what a trial costs, its folder, who runs it, and the number of the trial whose runs it goes on with.

    ALIVE: when its owner last said that it runs, as ``saved_config.now`` gives the time.
    """

    STEPS, CORE_SECONDS, FOLDER, OWNER, CONTINUES = "steps", "core_seconds", "folder", "owner", "continues"
    ALIVE = "alive"


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


def without_secrets(text: str, where: str) -> str:
    """What a driver says, without the pieces of its URL that may be part of a user's name or a password."""
    _, _, rest = where.partition("://")
    credentials, _, _ = rest.rpartition("@")
    values = (setting.partition("=")[2] for setting in rest.partition("?")[2].split("&"))
    pieces = {piece for part in (credentials, *values) for piece in (part, *re.split(r"[:/?#@&=]", part))}
    pieces |= {unquote(piece) for piece in pieces}
    for piece in sorted(pieces, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", "…", text) if piece else text
    return text


def owner_of(folder: Path) -> str:
    """The name by which the folder's trials are known, whatever the machine and the path: made once, and kept in it."""
    path = folder / _OWNER
    if not path.exists():
        write_text(path, uuid.uuid4().hex)
    return path.read_text(errors="replace")


def is_silent(trial: FrozenTrial) -> bool:
    """Whether nothing has been heard of a running trial for long."""
    try:
        heard = datetime.fromisoformat(trial.user_attrs[Attribute.ALIVE])
    except (KeyError, TypeError, ValueError):  # an earlier version says nothing
        heard = (trial.datetime_start or datetime.now()).astimezone()
    return datetime.now(UTC) - heard > SILENCE
