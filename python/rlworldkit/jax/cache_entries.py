"""Damaged entries of JAX's compilation cache, which JAX itself never replaces: it compiles, and warns, in every run."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

_FAULT = re.compile(r"Error (reading|writing) persistent compilation cache entry for '(.*?)': (.*)", re.DOTALL)
"""How JAX warns."""
_SUFFIX = "-cache"
"""Of an entry's file, after its key."""


def replace_damaged_entries() -> None:
    """Have a damaged entry compiled and written again, and say so in a sentence instead of JAX's warnings."""
    if getattr(warnings.showwarning, "func", None) is not _show:
        warnings.filterwarnings("always", message="Error (reading|writing) persistent compilation cache entry")
        warnings.showwarning = partial(_show, warnings.showwarning)


def damaged_entries(folder: Path) -> Iterator[Path]:
    """The entries in a folder that cannot be read or unpacked."""
    from jax._src.compilation_cache import decompress_executable

    for path in folder.glob(f"*{_SUFFIX}"):
        try:
            decompress_executable(path.read_bytes())
        except FileNotFoundError:  # removed by another process
            continue
        except Exception:  # of whichever library packed it
            yield path


def _show(show: Any, message: Warning | str, *args: Any, **options: Any) -> None:
    found = _FAULT.match(str(message))
    if found is None:
        show(message, *args, **options)
        return
    doing, program, fault = found.groups()
    folder, fault = sys.modules["jax"].config.jax_compilation_cache_dir, fault.partition("\n")[0]
    key = _key_of_caller() if doing == "reading" else None
    if key is None:
        sentence = f"The compilation cache {folder} fails for {program} ({fault}): each run compiles it again."
    else:
        path = Path(folder, f"{key}{_SUFFIX}")
        try:
            path.unlink(missing_ok=True)  # JAX writes no entry that is there
            sentence = f"Compiling {program} again, because {path} was damaged."
        except OSError as error:
            remedy = "remove it, or each run compiles it again"
            sentence = f"{path} is damaged and cannot be replaced ({error.strerror}): {remedy}."
    print(sentence, file=sys.stderr)


def _key_of_caller() -> str | None:
    """The key that JAX's function looked for which warns; None in a version where it has another name."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == "_cache_read":
            return frame.f_locals.get("cache_key")
    return None
