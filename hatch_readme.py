"""Metadata hook: the README with links to files of the repository as whole addresses, which an index needs."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"(!?)(\[[^\]]*\]\()(?!https?://|#)")


class ReadmeHook(MetadataHookInterface):
    """Makes the field ``readme`` of README.md; the repository's address is ``Source`` of ``[project.urls]``."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        source = metadata["urls"]["Source"]

        def with_address(match: re.Match[str]) -> str:
            return f"{match[0]}{source}/{'raw' if match[1] else 'blob'}/main/"

        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": _RELATIVE.sub(with_address, text)}
