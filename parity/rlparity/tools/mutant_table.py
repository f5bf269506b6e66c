"""Tables of mutants: which fault is planted where, and the text of a file with it.

A TOML file has sections, each a list of files with their mutants; the same form serves engines and tests:

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
    """The mutants of some sections of a table, whose files lie in ``folder`` of the bench's source.

    ``rules`` holds ids between spaces; a mutant's ``tests`` are its own, or those of its file.
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
    """The text of the mutant's file with the fault; raises UsageError unless its place is there just once."""
    found = occurrences(mutant.old, text)
    if len(found) != 1:
        raise UsageError(
            f"mutant '{mutant.name}': its old text is {len(found)} times in {mutant.file}: it must be there once."
        )
    return text[: found[0].start()] + mutant.new + text[found[0].end() :]


def occurrences(old: str, text: str) -> list[re.Match[str]]:
    """Where an old text stands in a file, word by word."""
    return [*_pattern(old).finditer(text)]


def _pattern(code: str) -> re.Pattern[str]:
    """Whole words and signs in this order, with any space between them and a comma before what closes a bracket."""
    parts = []
    for part in re.findall(r"\w+|[^\w\s]", code):
        is_word, closes = part[0].isalnum() or part[0] == "_", part in ")]}"
        parts.append(rf"\b{part}\b" if is_word else (r"(?:,\s*)?" if closes else "") + re.escape(part))
    return re.compile(r"\s*".join(parts))
