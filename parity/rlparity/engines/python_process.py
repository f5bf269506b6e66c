"""Start Python processes that import what this one imports, whatever files lie in the working directory."""

import os
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

import rlparity
from rlparity.engines.checkout import outside_hooks

_LIBRARY = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")]
_STANDARD = dict.fromkeys([*_LIBRARY, *(os.path.join(path, "lib-dynload") for path in _LIBRARY)])
"""Folders of the standard library, each once."""


def python_command(*words: str) -> list[str]:
    """The command that starts this interpreter; it does not look for modules in the working directory."""
    return [sys.executable, "-P", *words]


def python_environment(variables: Mapping[str, str], paths: Iterable[Path] = ()) -> dict[str, str]:
    """All environment variables of a Python process in which some are others, such as one on a changed copy of code.

    It looks for modules in the standard library, which a ``types.py`` elsewhere would shadow, then in the PYTHONPATH of
    ``variables``, in ``paths``, beside this harness and in the PYTHONPATH of this process.
    """
    first, last = variables.get("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")
    home = str(Path(rlparity.__file__).resolve().parents[1])
    searched = filter(None, [*_STANDARD, first, *map(str, paths), home, last])
    return {**outside_hooks(os.environ), **variables, "PYTHONPATH": os.pathsep.join(searched)}
