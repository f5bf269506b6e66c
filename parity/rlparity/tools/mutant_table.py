"""Tables of mutants in TOML: read the faults to plant, and plant one in the text of its file.

A table has sections, each a list of files with their mutants; mutants of engines and of tests have the same format:

    [[tests]]
    file = "parity/rlparity/io/atomic_write.py"
    tests = ["tests/parity/test_files.py"]
    mutants = [
        { name = "files-are-written-in-place", old = "os.replace(new, path)", new = "pass" },
    ]
"""

import re
from pathlib import Path

from rlparity.errors import UsageError
from rlparity.io.safe_read import read_toml, refused
from rlparity.mutant import Mutant


def read_mutants(table: Path, *sections: str, folder: str = "") -> tuple[Mutant, ...]:
    """Read the mutants in some sections of a table. ``folder``: prefix of their files in the bench's source.

    ``rules`` holds rule ids separated by spaces; a mutant without ``tests`` has those of its file.
    Raises UsageError where the table cannot be read.
    """
    with refused(table, "table of mutants", "name a TOML file"):
        content = read_toml(table)
    try:
        mutants = tuple(
            Mutant(
                name=entry["name"],
                file=folder + group["file"],
                old=entry["old"],
                new=entry["new"],
                rules=tuple(entry.get("rules", "").split()),
                tests=tuple(entry.get("tests", group.get("tests", ()))),
            )
            for section in sections
            for group in content[section]
            for entry in group["mutants"]
        )
        for mutant in mutants:
            if not all(isinstance(text, str) for text in (mutant.name, mutant.old, mutant.new, *mutant.tests)):
                raise TypeError("names, texts and tests must be texts")
        return mutants
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{table} is no table of mutants ({type(error).__name__}: {error}): correct it.") from None


def planted(mutant: Mutant, text: str) -> str:
    """Plant a mutant in the text of its file; raises UsageError unless its old text occurs exactly once."""
    found = occurrences(mutant.old, text)
    if len(found) != 1:
        raise UsageError(
            f"mutant '{mutant.name}': its old text occurs {len(found)} times in {mutant.file}: it must occur once."
        )
    return text[: found[0].start()] + mutant.new + text[found[0].end() :]


def occurrences(old: str, text: str) -> list[re.Match[str]]:
    """Find an old text in a file's text, whatever the whitespace between its words."""
    return [*_pattern(old).finditer(text)]


def _pattern(code: str) -> re.Pattern[str]:
    """Pattern of the code's words and signs with any whitespace between, and optional trailing commas in brackets."""
    parts = []
    for part in re.findall(r"\w+|[^\w\s]", code):
        is_word, closes = part[0].isalnum() or part[0] == "_", part in ")]}"
        parts.append(rf"\b{part}\b" if is_word else (r"(?:,\s*)?" if closes else "") + re.escape(part))
    return re.compile(r"\s*".join(parts))
