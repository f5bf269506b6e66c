"""Generated mutants: small edits at sampled places of an engine's source, in Python and in Swift.

Operators, comparisons and constants are changed, conditions and statements removed, arguments swapped (the operators of
DeMillo, Lipton and Sayward 1978). Text patterns find the places: the sources are formatted, so that binary operators
have spaces on both sides and unary ones have none. A mutant that does not build is not judged.
"""

import random
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from rlparity.errors import UsageError
from rlparity.mutant import Mutant, MutationBench
from rlparity.tools.mutant_table import occurrences
from rlparity.world import World

_NO_CODE = {
    ".py": r'("""|\'\'\')(?:\\.|.)*?\1|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*',
    ".swift": r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/',
}
"""Patterns of string literals and comments, which are not mutated, by file suffix."""
_NEVER, _NOTHING = {".py": "False", ".swift": "false"}, {".py": "pass", ".swift": ""}
"""A condition that is never true, and a statement that does nothing, by file suffix."""
_IN_OTHERS = re.compile(
    r"\s*(?:(?:private|mutating|static|fileprivate|public) )*"
    r"(?:import|from|def|class|func|struct|enum|case|extension|assert)\b"
)
"""Pattern of lines that are not mutated: imports, declarations (types and names) and assertions."""
_PAIRS = (
    *((" < ", " <= "), (" > ", " >= "), (" == ", " != "), (" + ", " - "), (" &+ ", " &- "), (" += ", " -= ")),
    *((" & ", " | "), (" && ", " || "), (" and ", " or "), (" << ", " >> "), ("True", "False"), ("true", "false")),
    *(("min(", "max("), (" &+= ", " &-= "), ("minimum(", "maximum("), ("any(", "all("), (" in ", " not in ")),
)
_ONE_WAY = ((" * ", " + "), (" // ", " * "), (" / ", " * "), (" % ", " + "), ("~", ""), (" not ", " "), ("!", ""))
_NAME = r"[\w.]+(?:\[\w+\])?"
_CONSTANT = re.compile(r"(?<![\w.])\d+(?![\w.])")
_TWO_ARGUMENTS = re.compile(rf"(?<=\(|\s)(?P<one>{_NAME}), (?P<other>{_NAME})(?=\))")
_CONDITION = re.compile(r"\b(?:if|elif|guard) (?!let\b|var\b|case\b)(?P<condition>[^{}\n]+?)(?=:\n| \{| else \{)")
_STATEMENT = re.compile(
    r"(?<=\n)(?P<space> +)(?!return|let|var|yield|raise|throw)[\w.\[\]()]+(?: [-+|&*^]{0,2}= |\()"
    r"[^\n]*[^\s\n({\[,](?=\n)"
)

Edit = tuple[int, int, str]
"""Start offset, end offset and replacement text of one edit."""


def generated_mutants(world: World, bench: MutationBench, count: int, seed: int) -> tuple[Mutant, ...]:
    """Sample ``count`` mutants of the bench's engine, or all if there are fewer, with the random ``seed``.

    Raises UsageError where ``World.sources`` has no source of the engine, or one outside the bench.
    """
    source = world.sources.get(bench.engine)
    if source is None or not source.exists() or not source.resolve().is_relative_to(bench.source.resolve()):
        raise UsageError(
            f"world '{world.name}' names no source of engine '{bench.engine}' within its bench: give World.sources one."
        )
    files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.suffix in _NO_CODE)
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    places = [(path, edit) for path, text in texts.items() for edit in edits(text, path.suffix, world.marks)]
    chosen = random.Random(seed).sample(places, min(count, len(places)))
    ordered = sorted(chosen, key=lambda place: (place[0], place[1]))
    return tuple(_mutant(world, bench, path, texts[path], edit) for path, edit in ordered)


def edits(text: str, suffix: str, marks: Collection[str] = ()) -> list[Edit]:
    """List all edits of a source text, in order, except in lines that fire a mark: a mark is not game logic."""
    code = re.sub(_NO_CODE[suffix], lambda found: re.sub(r"[^\n]", "\x00", found[0]), text, flags=re.DOTALL)
    fired = re.compile("|".join(rf"[\"'`]{re.escape(mark)}[\"'`]" for mark in marks) or r"(?!)")
    found = []
    for edit in {*_changes(code), *_removals(code, suffix)}:
        start, end = text.rfind("\n", 0, edit[0]) + 1, text.find("\n", edit[1])
        is_change = text[edit[0] : edit[1]] != edit[2]
        if is_change and not _IN_OTHERS.match(text, start) and not fired.search(text[start:end]):
            found.append(edit)
    return sorted(found)


def _changes(code: str) -> Iterator[Edit]:
    """Yield edits that change an operator or a constant, or swap two arguments."""
    for old, new in (*_PAIRS, *((new, old) for old, new in _PAIRS), *_ONE_WAY):
        word = rf"\b{re.escape(old)}" if old[0].isalpha() else re.escape(old)
        end = r"(?=\w)" if old in ("!", "~") else r"\b" if old[-1].isalpha() else ""
        yield from ((found.start(), found.end(), new) for found in re.finditer(word + end, code))
    for found in _CONSTANT.finditer(code):
        yield found.start(), found.end(), str(int(found[0]) + 1)
        if int(found[0]):
            yield found.start(), found.end(), str(int(found[0]) - 1)
    for found in _TWO_ARGUMENTS.finditer(code):
        yield found.start(), found.end(), f"{found['other']}, {found['one']}"


def _removals(code: str, suffix: str) -> Iterator[Edit]:
    """Yield edits that make a condition always false or remove a statement."""
    for found in _CONDITION.finditer(code):
        yield found.start("condition"), found.end("condition"), _NEVER[suffix]
    for found in _STATEMENT.finditer(code):
        yield found.end("space"), found.end(), _NOTHING[suffix]


def _mutant(world: World, bench: MutationBench, path: Path, text: str, edit: Edit) -> Mutant:
    """Make the mutant of an edit: its old text is extended by whole lines until it is unique in the file."""
    start, end = text.rfind("\n", 0, edit[0]) + 1, text.find("\n", edit[1])
    line, column = text.count("\n", 0, edit[0]) + 1, edit[0] - start + 1
    while len(occurrences(text[start:end], text)) > 1:
        start, end = text.rfind("\n", 0, max(start - 1, 0)) + 1, text.find("\n", end + 1)
    start += len(text[start:end]) - len(text[start:end].lstrip())  # a match of old text begins at its first word
    old, new = text[start:end], text[start : edit[0]] + edit[2] + text[edit[1] : end]
    change = f"{text[edit[0] : edit[1]].strip()} -> {edit[2].strip() or 'nothing'}"
    file = str(path.resolve().relative_to(bench.source.resolve()))
    return Mutant(f"{path.name}:{line}:{column} {change}", file, old, new, _rules_at(world, text, edit[0]))


def _rules_at(world: World, text: str, place: int) -> tuple[str, ...]:
    """Rules named, by id or mark, in the nearest line at or before an offset."""
    ids = {**{rule: rule for rule in world.rule_ids()}, **world.marks}
    if not ids:
        return ()
    any_of = "|".join(re.escape(name) for name in sorted(ids, key=len, reverse=True))
    names = re.compile(rf"(?<![\w.-])(?:{any_of})(?![\w-])")
    before = text[: text.find("\n", place)].splitlines()
    found = next((found for line in reversed(before) if (found := names.findall(line))), [])
    return tuple(dict.fromkeys(ids[name] for name in found))
