"""On-disk cache of what is made of programs: traces, compiled C and PTX, beside JAX's own of what XLA compiles.

A file ends with a digest of the rest, so that one that is damaged or half written counts as missing.
"""

import contextlib
import hashlib
import os
from pathlib import Path

from rlparity.io.safe_read import GIB, Unreadable, read_bytes
from rlworldkit.jax.switches import cache_folder

FOLDER = "programs"
"""In the folder of JAX's compilation cache."""
MAX_FILES = 200
"""Of about half a megabyte each; the least recently used one is removed first."""
_DIGEST_BYTES = 32


def path_of(name: str) -> Path | None:
    """Where the file of this name is, or would be; None where nothing is cached."""
    folder = cache_folder()
    return folder and folder / FOLDER / name


def read(path: Path | None) -> bytes | None:
    """The content of a file; None where there is none that is as it was written."""
    try:
        content = read_bytes(path, GIB) if path else b""
    except (FileNotFoundError, Unreadable):
        return None
    content, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if path is None or hashlib.sha256(content).digest() != digest:
        return None
    with contextlib.suppress(OSError):  # of somebody else, or on a medium that cannot be written
        os.utime(path)
    return content


def write(path: Path | None, content: bytes) -> bool:
    """Write a file at once; False where it cannot be written, which only costs the next start its time."""
    if path is None:
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")  # other processes may be writing the same
        unfinished.write_bytes(content + hashlib.sha256(content).digest())
        unfinished.replace(path)
        oldest_first = sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in oldest_first[:-MAX_FILES]:
            file.unlink()
    except OSError:
        return False
    return True
