"""One process at a time trains into a folder."""

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
    """Hold a lock of ``folder``, the file ``name``, which stays; however the process ends, the lock ends with it.

    Where the file system knows no locks nothing is held. Raises UsageError where another process, or another run of
    this one, holds it, with the sentence ``refusal`` if there is one, or where the file cannot be made.
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
    except OSError:  # no locks here
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
    """A fork shares the lock of its parent, which it must not keep up when the parent is gone."""
    for descriptor in list(_held):
        _release(descriptor)


os.register_at_fork(after_in_child=_let_go)
