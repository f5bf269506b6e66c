"""``hackmatrix doctor``: say what is here and works, and what to do about the rest."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from hackmatrix.doctor import BROKEN, NOTE, OK, examine
from parity.arguments import Parser
from parity.console import open_console
from parity.strict_json import json_text
from worldkit.jax.xla import CACHE_VARIABLE, enable_compilation_cache

_STYLES = {OK: "green", NOTE: "yellow", BROKEN: "bold red"}


def main(argv: Sequence[str] | None = None) -> int:
    """Print one line for each check and return the exit code: 1 where something is broken, else 0.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
    """
    parser = Parser(
        prog="hackmatrix doctor",
        description="Say what is here and works, and what to do about the rest.",
        epilog="Exit codes: 0 all that is needed is there, 1 something is broken. A note is no fault.",
        allow_abbrev=False,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    args = parser.parse_args(argv)
    enable_compilation_cache("hackmatrix")
    console = open_console(quiet=args.json)
    checks = []
    cache = os.environ.get(CACHE_VARIABLE)
    for check in examine(Path(cache) if cache else None):
        checks.append(check)
        told = "; ".join(filter(None, (check.found, check.remedy)))
        line = Text.assemble((f"{check.status:8}", _STYLES[check.status]), f"{check.name:19}{told}")
        console.print(line, soft_wrap=True)
    broken = any(check.status == BROKEN for check in checks)
    if args.json:
        print(json_text({"ok": not broken, "checks": [dataclasses.asdict(check) for check in checks]}, indent=2))
    return int(broken)
