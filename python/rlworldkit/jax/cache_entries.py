"""Replacement of damaged entries in JAX's compilation cache: JAX keeps them, and recompiles and warns in every run."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

_FAULT = re.compile(r"Error (reading|writing) persistent compilation cache entry for '(.*?)': (.*)", re.DOTALL)
"""JAX's warning about a cache entry: operation, program and reason."""


def replace_damaged_entries() -> None:
    """Recompile and rewrite damaged entries, and print one sentence in place of JAX's warning."""
    if getattr(warnings.showwarning, "func", None) is not _show:
        warnings.filterwarnings("always", message="Error (reading|writing) persistent compilation cache entry")
        warnings.showwarning = partial(_show, warnings.showwarning)


def damaged_entries(folder: Path, program: str = "") -> Iterator[Path]:
    """Yield the cache files of one program, or of all, that cannot be unpacked."""
    from jax._src.compilation_cache import decompress_executable

    for path in folder.glob(f"{program}*-cache"):
        try:
            decompress_executable(path.read_bytes())
        except FileNotFoundError:  # removed by another process
            continue
        except Exception:  # depends on the compression library
            yield path


def _show(show: Any, message: Warning | str, *args: Any, **options: Any) -> None:
    found = _FAULT.match(str(message))
    if found is None:
        show(message, *args, **options)
        return
    doing, program, fault = found.groups()
    folder = sys.modules["jax"].config.jax_compilation_cache_dir
    reason = fault.partition("\n")[0]
    sentence = f"The compilation cache {folder} fails for {program} ({reason}): each run compiles it again."
    for path in damaged_entries(Path(folder), f"{program}-") if doing == "reading" else ():
        try:
            path.unlink(missing_ok=True)  # JAX does not overwrite an entry
            sentence = f"Compiling {program} again, because {path} was damaged."
        except OSError as error:
            remedy = "remove it, or each run compiles it again"
            sentence = f"{path} is damaged and cannot be replaced ({error.strerror}): {remedy}."
    print(sentence, file=sys.stderr)
