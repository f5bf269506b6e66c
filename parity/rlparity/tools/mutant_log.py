"""Log of a campaign of mutants: a line of JSON for each verdict, so that a run that was cut goes on where it stood."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rlparity.errors import UsageError
from rlparity.io.safe_read import GIB, Unreadable, json_of, read_bytes, refused
from rlparity.io.strict_json import json_text
from rlparity.mutant import Mutant, MutationBench
from rlparity.tools.mutants import MutantVerdict, mutated_text

_DIGEST = "digest"


class MutantLog:
    """Verdicts in a file; without a path there are none.

    how: settings of the run: what was judged with others, or is another fault by now, is judged anew.
    """

    def __init__(self, path: Path | None, how: Sequence[object]) -> None:
        self._path = path
        self._how = json_text([*how])
        self._entries: dict[str, dict[str, Any]] = {}
        if path is not None and path.exists():
            with refused(path, "log of mutants", broken="name another file"):
                lines = read_bytes(path, GIB).splitlines()
                for line in lines:
                    self._read(line)

    def _read(self, line: bytes) -> None:
        try:
            entry = json_of(line)
            self._entries[entry[_DIGEST]] = {name: entry[name] for name in ("result", "steps", "detail")}
        except (TypeError, KeyError) as error:
            raise Unreadable(f"it holds what is no verdict ({error})") from None

    def known(self, bench: MutationBench, mutants: Sequence[Mutant]) -> dict[Mutant, MutantVerdict]:
        """The verdicts that the file holds of these mutants."""
        digests = {mutant: self._digest(bench, mutant) for mutant in mutants}
        return {
            mutant: MutantVerdict(bench.engine, mutant, **self._entries[digest])
            for mutant, digest in digests.items()
            if digest in self._entries
        }

    def add(self, bench: MutationBench, verdict: MutantVerdict) -> None:
        """Append a verdict; raises UsageError where the file cannot be written."""
        if self._path is None:
            return
        line = json_text(asdict(verdict.document()) | {_DIGEST: self._digest(bench, verdict.mutant)})
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written ({error.strerror}): name another file.") from error

    def _digest(self, bench: MutationBench, mutant: Mutant) -> str:
        parts = bench.engine, mutant.file, mutated_text(bench.source, mutant), *mutant.tests, self._how
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
