"""Tables of mutants: which fault is planted where, and the text of a file with it.

A TOML file has sections, each a list of files with their mutants; the same form serves engines and tests:

    [[tests]]
    file = "parity/rlparity/io/atomic_write.py"
    tests = ["tests/parity/test_files.py"]
    mutants = [
        { name = "files-are-written-in-place", in = "replacing", old = "os.replace(new, path)", new = "pass" },
    ]
"""

import ast
import re
import threading
from pathlib import Path

from rlparity.errors import UsageError
from rlparity.io.safe_read import read_toml, refused
from rlparity.mutant import Mutant

_PARSING = threading.Lock()
"""Python 3.11 counts the depth of a tree for all threads together, so that two that parse at once can fail."""


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
                function=entry.get("in", ""),
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
    start, end = _scope(mutant, text)
    found = occurrences(mutant.old, text, start, end)
    if len(found) != 1:
        place = f"{mutant.function} of {mutant.file}" if mutant.function else mutant.file
        raise UsageError(
            f"mutant '{mutant.name}': its old text is {len(found)} times in {place}: it must be there once."
        )
    return text[: found[0].start()] + mutant.new + text[found[0].end() :]


def occurrences(old: str, text: str, start: int = 0, end: int | None = None) -> list[re.Match[str]]:
    """Where an old text stands in a file, word by word."""
    return [*_pattern(old).finditer(text, start, len(text) if end is None else end)]


def _pattern(code: str) -> re.Pattern[str]:
    """Whole words and signs in this order, with any space between them and a comma before what closes a bracket."""
    parts = []
    for part in re.findall(r"\w+|[^\w\s]", code):
        is_word, closes = part[0].isalnum() or part[0] == "_", part in ")]}"
        parts.append(rf"\b{part}\b" if is_word else (r"(?:,\s*)?" if closes else "") + re.escape(part))
    return re.compile(r"\s*".join(parts))


def _scope(mutant: Mutant, text: str) -> tuple[int, int]:
    if not mutant.function:
        return 0, len(text)
    spans = (_python_spans if mutant.file.endswith(".py") else _braced_spans)(mutant.function, text)
    if len(spans) != 1:
        found = f"'{mutant.function}' is {len(spans)} times in {mutant.file}"
        raise UsageError(f"mutant '{mutant.name}': {found}: it must be there once.")
    return spans[0]


def _python_spans(name: str, text: str) -> list[tuple[int, int]]:
    """Functions and classes of this qualified name, or whose qualified name ends with it."""
    lines = text.splitlines(keepends=True)
    spans = []

    def visit(node: ast.AST, outer: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = outer
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inner = f"{outer}.{child.name}"
                if inner.endswith(f".{name}"):
                    first, last = child.lineno - 1, child.end_lineno or child.lineno
                    spans.append((len("".join(lines[:first])), len("".join(lines[:last]))))
            visit(child, inner)

    with _PARSING:
        module = ast.parse(text)
    visit(module, "")
    return spans


def _braced_spans(signature: str, text: str) -> list[tuple[int, int]]:
    """From each place of this text to the brace that closes the next one that opens."""
    spans = []
    for found in _pattern(signature).finditer(text):
        depth = 0
        for brace in re.finditer(r"[{}]", text[found.start() :]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                spans.append((found.start(), found.start() + brace.end()))
                break
    return spans
