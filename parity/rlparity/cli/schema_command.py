"""The command ``rlparity schema``."""

from __future__ import annotations

from argparse import Namespace

from rlparity.errors import UsageError, unknown
from rlparity.io.documents import schema_of
from rlparity.io.strict_json import json_text
from rlparity.tools.documents import DOCUMENTS, FailureDocument


def schema(options: Namespace) -> int:
    """Print the JSON Schema of what a command prints with --json, or list the commands that have one.

    It also holds what a command prints when it fails, with exit code 2 or 3.

    Examples:
        rlparity schema
        rlparity schema run
    """
    if options.name is None:
        print("\n".join(DOCUMENTS))
        return 0
    if options.name not in DOCUMENTS:
        raise UsageError(f"there is no schema {unknown(options.name, DOCUMENTS)}: choose among {', '.join(DOCUMENTS)}.")
    print(json_text(schema_of(DOCUMENTS[options.name] | FailureDocument), indent=2))
    return 0
