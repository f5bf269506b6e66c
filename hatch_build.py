"""Build hook: the Swift engine inside the wheel, where HACKMATRIX_BUNDLE names its binary (`make wheel`)."""

import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "HACKMATRIX_BUNDLE"
MACOS = "14_0"
"""The oldest one that swift/Package.swift asks for."""


class SwiftEngineHook(BuildHookInterface[Any]):
    """Puts the binary next to the code that starts it, and tags the wheel for the platforms on which it runs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Change what is built; an editable installation has the engine of its checkout."""
        named = os.environ.get(VARIABLE)
        if not named or version == "editable":
            return
        binary = Path(self.root, named)
        if not binary.is_file():
            raise SystemExit(f"{VARIABLE} names {binary}, which is no file: run `make bundle`, or unset it.")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag(binary.read_bytes())}"
        build_data["force_include"][str(binary)] = "hackmatrix/swift_env/bin/HackMatrix"


def platform_tag(binary: bytes) -> str:
    """Name this machine, with the oldest version of its system that runs the binary: on Linux, of glibc."""
    if sys.platform == "darwin":
        return f"macosx_{MACOS}_{platform.machine()}"
    minor = max(map(int, re.findall(rb"\bGLIBC_2\.(\d+)\b", binary)))
    return f"manylinux_2_{minor}_{platform.machine()}"
