"""Tables of the record of all pairs, its differences, and what changed from one record to the next."""

import ast
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Record = Mapping[str, Any]
LEDGER, NOT_FOUND = "known-differences.toml", "not found"
NO_GLUE = "port.py", "starts.py", "vote.py"
"""Python of a pair that puts no environments side by side: ports of ours, made states, and checks of the report."""
MARKS = "<!-- record -->", "<!-- /record -->"
VOLATILE = "minutes"


def name_of(run: Mapping[str, Any]) -> str:
    """The name of a run among those of its pair."""
    return " ".join((run["world"], run["engines"], run.get("mode", "strict"), run.get("source", "uniform")))


def settings_of(folder: Path) -> dict[str, Any]:
    """What `runs.toml` of a pair says."""
    return tomllib.loads((folder / "runs.toml").read_text())


def entries_of(folder: Path) -> dict[str, list[str]]:
    """The differences of a ledger: entries whose names go on from that of another one are the same as that."""
    path = folder / LEDGER
    names = sorted(tomllib.loads(path.read_text())["entries"] if path.exists() else (), key=len)
    groups: dict[str, list[str]] = {}
    for name in names:
        first = next((each for each in groups if name.startswith(f"{each}-")), name)
        groups.setdefault(first, []).append(name)
    return groups


def differences(folder: Path, runs: Record, reached: Mapping[str, bool]) -> dict[str, dict[str, Any]]:
    """Each difference of a pair: whether it is still there, how it is reached, and how many games met it."""
    path, found = folder / LEDGER, {}
    ledger = tomllib.loads(path.read_text())["entries"] if path.exists() else {}
    faults = [reason for run in runs.values() for reason in run["reasons"]]
    is_tried = any(run["verdict"] != "ERROR" for run in runs.values())
    for name, entries in entries_of(folder).items():
        broken = any(f"itness of entry '{entry}'" in reason for entry in entries for reason in faults)
        trace = folder / "reached" / f"{name}.json"
        met = {
            (run_name, entry): (run["met"][entry], run["games"])
            for run_name, run in runs.items()
            for entry in entries
            if run.get("met", {}).get(entry)
        }
        found[name] = {
            "kind": ledger[name]["kind"],
            "not found": NOT_FOUND in ledger[name]["citation"].lower(),
            "witness": not broken if is_tried else None,
            "reached": reached.get(name, False) if trace.exists() else None,
            "actions": len(json.loads(trace.read_text())["actions"]) if trace.exists() else None,
            "times": sum(run.get("known", {}).get(entry, 0) for run in runs.values() for entry in entries),
            "games": max(met.values(), default=(0, 0)),  # of the run in which most games meet it
            "runs": sorted({run_name for run_name, _ in met}),
        }
    return json.loads(json.dumps(found))


def changes(old: Record, new: Record) -> list[str]:
    """A line for each place where two records differ, times aside."""
    one, other = dict(_leaves(old)), dict(_leaves(new))
    pairs = ((place, one.get(place), other.get(place)) for place in {**one, **other})
    return [f"{place}: {before} -> {after}" for place, before, after in pairs if before != after]


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            if name != VOLATILE:
                yield from _leaves(part, f"{place}: {name}" if place else name)
    else:
        yield place, json.dumps(value)


def write(here: Path, record: Record) -> None:
    """Write the table of all pairs, and the part of each recorded pair's page that is generated."""
    names = sorted(path.parent.name for path in here.glob("*/runs.toml"))
    rows = [_pair_row(here / name, record.get(name) or _unrecorded(here / name)) for name in names]
    _insert(here / "README.md", _table(_PAIRS, rows))
    for name, pair in record.items():
        _insert(here / name / "README.md", "\n\n".join(filter(None, _page(here / name, pair))))


def _insert(path: Path, text: str) -> None:
    """Put generated text between the marks of a page, or at its end."""
    begin, end = MARKS
    page = path.read_text()
    before, _, rest = page.partition(begin) if begin in page else (page.rstrip() + "\n\n", "", "")
    path.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2] or chr(10)}")


_PAIRS = "pair", "versions", "steps", "differences", "not found", "reached from a reset", "minutes", "lines of glue"


def glue(folder: Path) -> int:
    """Lines of code that put the environments of a pair side by side, without comments and docstrings.

    They are in its folder, and in the modules beside it that no other pair imports.
    """
    sources = [path for path in folder.glob("*.py") if path.name not in NO_GLUE]
    sources += [path for path in folder.parent.glob("*.py") if _importers(path) == {folder.name}]
    texts = [path.read_text() for path in sources]
    return sum(sum(map(_is_code, text.splitlines())) - _text_lines(ast.parse(text)) for text in texts)


def _importers(module: Path) -> set[str]:
    """The pairs that import a module beside their folders."""
    imports = re.compile(rf"^(from|import) {module.stem}\b", re.MULTILINE)
    return {path.parent.name for path in module.parent.glob("*/*.py") if imports.search(path.read_text())}


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _text_lines(tree: ast.Module) -> int:
    """Lines with words in the docstrings of a module."""
    texts = [
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return sum(sum(map(_is_code, str(text.value).splitlines())) for text in texts)


def _unrecorded(folder: Path) -> Record:
    """What is known of a pair that no run has recorded: its ledger, and its traces as they were written."""
    pins = (line.partition("==") for line in (folder / "requirements.txt").read_text().splitlines() if line[:1] != "#")
    traces = {path.stem: True for path in folder.glob("reached/*.json")}
    parts = {"runs": {}, "minutes": "not recorded", "versions": {name: version for name, _, version in pins}}
    return {**parts, "differences": differences(folder, {}, traces)}


def _pair_row(folder: Path, pair: Record) -> Sequence[Any]:
    found = pair["differences"].values()
    kinds = [each["kind"] for each in found]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    title = (folder / "README.md").read_text().splitlines()[0].removeprefix("# ")
    settings = settings_of(folder)
    listed = settings.get("compared", [name for name in pair["versions"] if name.lower() not in _COMMON])
    versions = ", ".join(f"{name} {version}" for name, version in pair["versions"].items() if name in listed)
    steps = sum(run.get("steps", 0) for run in pair["runs"].values())
    reached = sum(bool(each["reached"]) for each in found)
    totals = f"{len(found)}: {counts}" if found else "none", sum(each["not found"] for each in found)
    environments = settings.get("environments", 1)
    return (
        f"[{title}]({folder.name}/README.md)",
        versions,
        f"{steps:,}",
        *totals,
        reached,
        pair["minutes"],
        f"{glue(folder)}" + f" for {environments}" * (environments > 1),
    )


_COMMON = "jax", "jaxlib", "flax", "numpy", "six", "pygame"


def _page(folder: Path, pair: Record) -> Iterator[str]:
    """The generated part of a pair's page."""
    rows = [(*name.split(" ", 2)[:2], *_cells(run)) for name, run in pair["runs"].items()]
    yield _table(("world", "engines", "verdict", "steps", "games", "minutes"), rows)
    found = [(f"`{name}`", *_difference_cells(folder, name, each)) for name, each in pair["differences"].items()]
    if found:
        header = "difference", "kind", "witness", "reached from a reset", "times met", "games that met it", "report"
        yield _table(header, found)
    effects = [
        (
            *name.split(" ", 2)[:2],
            policy.removeprefix("policy:"),
            *map(_effect, (effect["return"], effect["length"])),
            f"{effect['differ']} of {effect.get('of', 200)}",
        )
        for name, run in pair["runs"].items()
        for policy, effect in run.get("effect", {}).items()
        if "error" not in effect
    ]
    if effects:
        yield "The effect on an episode: the original's mean, and the port's less that with its 95% interval."
        yield _table(("world", "engines", "policy", "return", "length", "games that differ"), effects)


def _cells(run: Record) -> Sequence[Any]:
    reasons = "; ".join(run["reasons"][:3]) + "; …" * (len(run["reasons"]) > 3)
    verdict = run["verdict"] + (f": {reasons}" if reasons else "")
    return verdict.replace("|", "\\|"), f"{run.get('steps', 0):,}", f"{run.get('games', 0):,}", run["minutes"]


def _difference_cells(folder: Path, name: str, found: Record) -> Sequence[Any]:
    words = {True: "shows", False: "**gone**", None: "not tried"}
    reached = "no" if found["reached"] is None else f"after {found['actions']:,} action{'s' * (found['actions'] != 1)}"
    reached = "**no longer**" if found["reached"] is False else reached
    report = folder / "reports" / f"{name}.md"
    games, of = found["games"]
    link = f"[draft](reports/{name}.md)" if report.exists() else ""
    return found["kind"], words[found["witness"]], reached, f"{found['times']:,}", f"{games:,} of {of:,}", link


def _effect(sides: Sequence[Sequence[float]]) -> str:
    (mean, *_), _, (difference, low, high) = sides
    return f"{mean:.4g}, {difference:+.3g} [{low:.3g}, {high:.3g}]"


def _table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(re.sub(r"\s+\|", " |", f"| {' | '.join(map(str, cells))} |") for cells in lines)
