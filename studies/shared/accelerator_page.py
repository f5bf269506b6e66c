"""Self-contained HTML page of the results of an accelerator check."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

NOT_RUN, FAILED, DIFFERS = "not run", "failed", "differs"
_MEBIBYTE = 2**20
_STYLE = """body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid #8884; padding: .2rem .8rem .2rem 0; text-align: right }
th:first-child, td:first-child { text-align: left }
:root { color-scheme: light dark }"""


def page(found: Mapping[str, Any]) -> str:
    """Make the page from the JSON of ``accelerator_check``: comparisons, speed, memory, and missing results."""
    rows, machine = found["rows"], found["machine"]
    measured = [row for row in rows if "value" in row]
    games = sorted({row["games"] for row in measured})
    compared = [row for row in rows if "asked" in row]
    counted = [row for row in rows if row["part"] == "operations" and "what" in row]
    missing = [row for row in rows if "status" in row]
    versions = ", ".join(f"{name} {version}" for name, version in machine.get("versions", {}).items())
    devices = ", ".join(machine.get("devices", ()))
    parts = [
        f"<p>{escape(devices)}, {machine.get('cores', '?')} cores; {escape(versions)}; {found['seconds']:,.0f} s.</p>",
        _section(
            "Engines held to each other",
            ("engines", "actions", "steps", "asked", "episodes", "seconds", "result"),
            (
                (
                    row["part"].removeprefix("lockstep "),
                    *(row[name] for name in ("what", "steps", "asked", "episodes")),
                    round(row["seconds"], 1),
                    row.get("status", "same"),
                )
                for row in compared
            ),
        ),
        _by_games("Steps per second", "value", 1, games, measured),
        _by_games("Memory planned or allocated at most, MiB", "peak_bytes", _MEBIBYTE, games, measured),
        _by_games("Seconds to compile (torch: the first two updates)", "compile_seconds", 1, games, measured),
        _section(
            "Gather and scatter operations of a lowered step",
            ("world", "gather", "scatter"),
            ((row["what"], row["gather"], row["scatter"]) for row in counted),
        ),
        _section(
            "Not run, failed, or different",
            ("part", "games", "how", "why"),
            ((row["part"], row.get("games", ""), row["status"], row.get("why", "")) for row in missing),
        ),
    ]
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>Accelerator check</title><style>{_STYLE}</style>"
    return f"{head}<h1>Accelerator check</h1>{''.join(parts)}</html>\n"


def _by_games(title: str, name: str, unit: int, games: Sequence[int], rows: Sequence[Mapping[str, Any]]) -> str:
    """Make a table with a row for each part and a column for each number of games."""
    values = {(row["part"], row["games"]): row[name] / unit for row in rows if row.get(name) is not None}
    parts = dict.fromkeys(part for part, _ in values)
    cells = ([part, *(_rounded(values.get((part, count))) for count in games)] for part in parts)
    return _section(title, ("part", *(f"{count:,} games" for count in games)), cells)


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(value) if value >= 100 else round(value, 1)


def _section(title: str, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Make a table under a title; empty if it has no rows."""
    lines = [f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows]
    head = "".join(f"<th>{escape(name)}</th>" for name in heading)
    return f"<h2>{escape(title)}</h2><table><tr>{head}</tr>{''.join(lines)}</table>" if lines else ""


def _cell(value: Any) -> str:  # noqa: ANN401 - a text or a number
    return f"<td>{escape(value if isinstance(value, str) else f'{value:,}')}</td>"
