"""Child processes: a Python environment that imports the same modules as this process, pipes and termination."""

import contextlib
import os
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

import rlparity
from rlparity.engines.checkout import outside_hooks

_LIBRARY = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
_STANDARD = dict.fromkeys([*_LIBRARY, *(os.path.join(path, "lib-dynload") for path in _LIBRARY)])
"""Folders of the standard library, each once."""
_PIPE_BYTES = 1 << 20
"""Size of a pipe; with Linux's default of 64 KiB, observations of many games take a third longer."""


def python_command(*words: str) -> list[str]:
    """The command that starts this interpreter; it does not look for modules in the working directory."""
    return [sys.executable, "-P", *words]


def python_environment(variables: Mapping[str, str], paths: Iterable[Path] = ()) -> dict[str, str]:
    """Environment of a Python process with some variables changed, such as one that runs a changed copy of code.

    Modules are found in the standard library first, which a ``types.py`` elsewhere would shadow, then in PYTHONPATH of
    ``variables``, in ``paths``, beside this harness and in the PYTHONPATH of this process.
    """
    first, last = variables.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")
    home = str(Path(rlparity.__file__).resolve().parents[1])
    searched = filter(None, [*_STANDARD, first, *map(str, paths), home, last])
    return {**outside_hooks(os.environ), **variables, "PYTHONPATH": os.pathsep.join(searched)}


def execution_fault(path: Path) -> str | None:
    """Explain why an existing file cannot be run, and what to do; None where it can, or does not exist."""
    if not os.path.isfile(path) or os.access(path, os.X_OK):
        return None
    if os.statvfs(path).f_flag & getattr(os, "ST_NOEXEC", 0):
        return f"{path} lies on a file system that is mounted noexec: copy it to another one"
    return f"{path} lacks the permission to be run: give it with {shlex.join(['chmod', '+x', str(path)])}"


def enlarge_pipe(pipe: IO[bytes]) -> None:
    """Enlarge a pipe to a mebibyte; where the user's limit for pipes forbids it, the pipe stays small and slower."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def end_process(process: subprocess.Popen[bytes], log: IO[bytes], seconds: float) -> None:
    """Close the pipes of a process and wait for it; kill it where it has not ended after ``seconds``."""
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(OSError):
            pipe.close()
    try:
        process.wait(seconds)  # it ends by itself when its input closes
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    log.close()
