"""Lock a run's folder, so that one process at a time trains into it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rlparity.errors import UsageError

LOCK = "run.lock"

_held: set[int] = set()


@contextmanager
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
