"""The command ``parity diff``."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path

from parity.atomic_write import write_whole
from parity.commands import progress_bar
from parity.console import open_console, typed_command
from parity.diff import Comparison, check_expected
from parity.diff_report import diff_page, markdown, print_diff, small_cases, tables
from parity.diff_sides import build_corpus, open_side, share
from parity.errors import UsageError
from parity.finding import open_alone
from parity.lockstep import Settings
from parity.pair import Pair
from parity.prices import changed_prices, read_prices
from parity.registry import load_world, world_spec
from parity.strict_json import json_text
from parity.trace import trace_text
from parity.viewer.write import telling_failures, write_page

STANDARD_OUTPUT = Path("-")


def diff(options: Namespace) -> int:
    """Compare an engine at two places: what differs, what it does to rewards, and how agents fare."""
    prints_json = options.json == STANDARD_OUTPUT
    for path in filter(None, (options.html, options.json, options.markdown)):
        if not os.path.isdir(path.parent):
            raise UsageError(f"there is no folder {path.parent}: make it, or name a file elsewhere.")
    spec = world_spec(options.world, [options.engine] if options.engine else ())
    local = load_world(spec)
    engine, prices = options.engine or next(iter(local.engines)), read_prices(options.price, options.prices)
    one = open_side(local, spec, engine, options.a, prices | read_prices(options.price_a, None))
    other = open_side(local, spec, engine, options.b, prices | read_prices(options.price_b, None))
    shared = share(local, (one, other))
    world, labels = shared.world, shared.labels
    check_expected(world, options.expect)
    settings = Settings(**{name: getattr(options, name) for name in ("steps", "games", "seed", "invalid", "timeout")})
    parts = build_corpus(shared, settings, options.agent)
    with (
        Pair(world, labels, sum(len(part.games) for part in parts), timeout=settings.timeout) as pair,
        progress_bar(prints_json, "steps of each game", settings.steps) as advance,
    ):
        found = Comparison(shared, pair, parts, settings)
        found.play(advance)
    every, unexpected = tables(found, options.expect), found.unexpected(options.expect)
    shown = [each for each in every if each.rows and found.families and (each.name != "components" or found.changes)]
    command = typed_command("parity", "parity", *options.words)
    with open_alone(world, labels, found.case(0), settings.timeout) if shown else nullcontext(pair) as alone:
        cases = small_cases(found, alone, spec, command, options.cases, options.shrink_seconds)
        if options.html:
            write_page(diff_page(found, alone, shown, cases, command), world, options.html)
    if options.markdown:
        _write(options.markdown, markdown(found, shown, cases))
    if options.json:
        answer = {
            "identical": not found.families,
            "unexpected": unexpected,
            "world": local.name,
            "sides": [
                {"label": label, "commit": side.commit, "dirty": side.is_dirty, "prices": changed_prices(side.world)}
                for label, side in zip(labels, shared.sides, strict=True)
            ],
            "notes": shared.notes,
            **{name: getattr(options, name) for name in ("seed", "games", "steps")},
            "transitions": int(found.compared.sum()),
            "episodes": len(found.episodes),
            "left": int((found.parted >= 0).sum()),
            "refused": found.refused,
            **{each.name: each.values() for each in every},
            "cases": {name: json.loads(trace_text(report.trace)) for name, report in cases.items()},
        }
        _write(options.json, json_text(answer, indent=2) + "\n")
    if not prints_json:
        print_diff(found, shown, cases, open_console())
    return 1 if unexpected else 0


def _write(path: Path, text: str) -> None:
    """Write a text into a file, or for ``-`` to standard output."""
    if path == STANDARD_OUTPUT:
        print(text, end="")
        return
    with telling_failures(path):
        write_whole(path, text.encode())
