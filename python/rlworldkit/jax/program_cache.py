"""On-disk cache of traces, compiled C and PTX, beside JAX's own cache of the programs that XLA compiles.

Each file ends with a digest of its content, so a damaged or half-written file counts as missing.
"""

import contextlib
import hashlib
import os
from pathlib import Path

from rlparity.io.safe_read import GIB, Unreadable, read_bytes
from rlworldkit.jax.switches import cache_folder

FOLDER = "programs"
"""Subfolder of JAX's compilation cache folder."""
MAX_FILES = 200
"""Number of files kept, about half a megabyte each; the least recently used one is removed first."""
_DIGEST_BYTES = 32


def path_of(key: str) -> Path | None:
    """Return the path for the file of a key, whether or not it exists; None if there is no cache folder."""
    folder = cache_folder()
    return folder and folder / FOLDER / hashlib.sha256(key.encode()).hexdigest()[:32]


def read(path: Path | None) -> bytes | None:
    """Return the content of a file; None if the file is missing or damaged."""
    try:
        content = read_bytes(path, GIB) if path else b""
    except (FileNotFoundError, Unreadable):
        return None
    content, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
    if path is None or hashlib.sha256(content).digest() != digest:
        return None
    with contextlib.suppress(OSError):  # another user's file, or a read-only medium
        os.utime(path)
    return content


def write(path: Path | None, content: bytes) -> bool:
    """Write a file atomically; False if it cannot be written, which only slows down the next start."""
    if path is None:
        return False
    unfinished = path.with_suffix(f".{os.getpid()}")  # other processes may write the same file
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(content + hashlib.sha256(content).digest())
        unfinished.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        return False
    with contextlib.suppress(OSError):  # other processes may remove files as well
        for file in sorted(path.parent.iterdir(), key=lambda file: file.stat().st_mtime)[:-MAX_FILES]:
            file.unlink()
    return True
