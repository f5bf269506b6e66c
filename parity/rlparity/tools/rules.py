"""Rules of a world: look up their texts in its rule book, and find marks, components and rules in engines' sources."""

import re
from functools import lru_cache
from pathlib import Path

from rlparity.world import PLACE, World

_LINK = re.compile(r"\[([^]]+)]\([^)]*\)")
_MOST_BYTES = 1 << 20


def rule_text(world: World, rule: str) -> str:
    """Look up the text of a rule in the world's rule book; return a sentence that says why if there is none.

    The text follows the id in bold (``**E6** …``), is a heading that begins with the id, or is a table row with the id,
    or the part of the id after its first hyphen, in a cell.
    """
    if world.rule_book is None:
        return f"world '{world.name}' names no rule book."
    if not world.rule_book.is_file():
        return f"the rule book is not installed: read {world.rule_book.name} in a checkout."
    lines = _LINK.sub(r"\1", _text(world.rule_book, world.rule_book.stat().st_mtime_ns)).splitlines()
    named = re.escape(rule)
    bold = re.compile(rf"\W*\*\*{named}\*\*:? *(.*)|#+ {named}\.? +(.*)")
    if found := next((match for match in map(bold.match, lines) if match), None):
        return found[1] or found[2]
    for short in (rule, rule.partition("-")[2]):
        for line in lines:
            cells = [cell.strip() for cell in line.strip("| ").split(" | ")]
            if line.startswith("|") and short and short in cells:
                return ", ".join(cells)
    return f"{world.rule_book.name} does not have it."


def source_lines(world: World, engine: str, name: str) -> list[tuple[Path, int]]:
    """Find the lines, from 1, of an engine's source with a mark (or a component, or a rule), the likeliest first.

    The first of these patterns that occurs in the engine's ``World.sources`` counts: the name in quotes or backticks
    as an argument; an assignment to the component; the name as a word, such as in a comment; the mark's rule as a word.
    Returns an empty list without a source, such as for an engine that is installed compiled.
    """
    source = world.sources.get(engine.partition(PLACE)[0])
    if source is None or not source.exists():
        return []
    component = name.rpartition(".")[2]
    camel = re.sub(r"_(\w)", lambda letter: letter[1].upper(), component)
    given = (rf"\[\.{camel}\] = |\b{component}=(?!=)", rf"\b{component} = ") if component in world.components else ()
    patterns = (
        rf"""[.(\[]["'`]{re.escape(name)}["'`]""",
        *given,
        rf"(?<![\w.-]){re.escape(name)}(?![\w.-])",
        rf"(?<![\w.-]){re.escape(world.marks.get(name, name))}(?![\w.-])",
    )
    files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.suffix != ".pyc")
    texts = [(path, _text(path, path.stat().st_mtime_ns)) for path in files if path.is_file()]
    for pattern in map(re.compile, patterns):
        lines = (
            (path, at, line)
            for path, text in texts
            if pattern.search(text)
            for at, line in enumerate(text.splitlines(), 1)
        )
        if found := [each for each in lines if pattern.search(each[2])]:
            found.sort(key=lambda each: len(re.findall("[\"'`]", each[2])))  # lists of names, with many quotes, last
            return [(path, at) for path, at, _ in found]
    return []


@lru_cache(maxsize=1000)
def _text(path: Path, _changed: int) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.stat().st_size <= _MOST_BYTES else ""
    except OSError:  # an unreadable file has no lines to show
        return ""
