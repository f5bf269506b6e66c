r"""Keep a ledger of known differences between two engines: add entries, and check them.

Examples:
    rlparity ledger add ledger.toml --world my_module:WORLD --trace rlparity-report/trace.json \
        --id rest-heals-less --kind bug --citation https://... --then resynchronise --package gymnasium
    rlparity run --world my_module:WORLD --ledger ledger.toml
    rlparity ledger check ledger.toml --world my_module:WORLD
"""

import os
import re
from argparse import Namespace
from dataclasses import replace
from typing import Any

from rlparity.core.ledger import LIMIT, MARKS, START, installed_versions, ledger_of, read_ledger
from rlparity.core.lockstep import check_witnesses
from rlparity.core.trace import Trace, read_trace, trace_text
from rlparity.engines.registry import load_pair, load_traced, load_world, world_spec
from rlparity.errors import UsageError
from rlparity.io.atomic_write import check_output, write_text
from rlparity.io.console import Answer
from rlparity.io.safe_read import read_text
from rlparity.io.strict_json import json_text
from rlparity.tools.documents import EntryDocument, WitnessesDocument
from rlparity.world import World


def add(options: Namespace) -> Answer:
    r"""Add an entry for the difference in a trace.

    `rlparity ledger --help` explains the file.

    Examples:
        rlparity ledger add ledger.toml --world my_module:WORLD --trace rlparity-report/trace.json \
            --id rest-heals-less --kind bug --citation https://... --then resynchronise --package gymnasium
    """
    trace, path = read_trace(options.trace), options.file
    check_output(path, makes_folders=True)
    if re.fullmatch(r"[A-Za-z0-9_-]+", options.id) is None:
        raise UsageError(f"--id {options.id!r} is no name of letters, digits, _ and -: give another.")
    if not trace.differences:
        raise UsageError(f"{options.trace} records no difference: give a trace that `rlparity run` wrote of one.")
    world, engines = load_traced(trace, options.trace, options.world, options.engines)
    text = f"worlds = [{json_text(world.name)}]\n"
    if os.path.exists(path):
        worlds = dict.fromkeys((*read_ledger(path).worlds, world.name))
        text = read_text(path, LIMIT)
        text = re.sub(r"^worlds = \[[^\]]*\]", f"worlds = {json_text([*worlds])}", text, count=1, flags=re.MULTILINE)
    text = f"{text.rstrip()}\n\n{_entry_text(world, engines, trace, options)}"
    ledger = ledger_of(text, path).opened(world, engines)
    if faults := check_witnesses(world, engines, ledger, options.timeout):
        raise UsageError(f"{path} stays as it was. {faults[0]}")
    write_text(path, text)
    said = f"{path} has the entry '{options.id}': narrow it by a condition, `when`, on the state before."
    return Answer(EntryDocument(str(path), options.id), lambda console: console.print(said, soft_wrap=True))


def check(options: Namespace) -> Answer:
    """Replay the witnesses of a ledger: both engines must still differ as recorded.

    `rlparity ledger --help` explains the file.

    Examples:
        rlparity ledger check ledger.toml --world my_module:WORLD
    """
    ledger, spec = read_ledger(options.file), world_spec(options.world, options.engines or ())
    world, faults, entries = load_world(spec), list[str](), 0
    pairs = [entry.engines for entry in ledger.entries if world.name in entry.worlds]
    for pair in dict.fromkeys([options.engines] if options.engines else pairs):
        there, _, engines = load_pair(world, pair, spec=spec)
        opened = ledger.opened(there, engines)
        entries += len(opened.entries)
        faults += check_witnesses(there, engines, opened, options.timeout)
    if not entries:
        raise UsageError(f"{options.file} has no entry for these engines of world '{world.name}': name others.")
    said = "\n".join(faults) or f"All witnesses hold ({entries:,})."
    document = WitnessesDocument(entries, faults)
    return Answer(document, lambda console: console.print(said, soft_wrap=True), int(bool(faults)))


def _entry_text(world: World, engines: tuple[str, str], trace: Trace, options: Namespace) -> str:
    """Format the entry as TOML. Strings, numbers and lists in JSON are valid TOML, too."""
    shown = tuple(found for found in trace.differences if found.family != MARKS)
    case = replace(trace.case, marks=False)
    witness = Trace(trace.world, engines, case, shown, prices=trace.prices)
    action = case.actions[-1] if case.actions else START
    sides = [installed_versions(world.engines[name], options.package) for name in engines]
    parts: dict[str, Any] = {
        **{name: getattr(options, name) for name in ("kind", "citation", "then", "share")},
        "worlds": [world.name],
        "fields": list(dict.fromkeys(found.field for found in shown)),
    }
    if not isinstance(action, tuple):  # an array action is hardly ever taken again
        parts["actions"] = [world.actions[action] if isinstance(action, int) else action]
    versions = ", ".join(f"{json_text(name)} = {json_text(_version(name, sides))}" for name in options.package)
    lines = [f"{name} = {json_text(value, ensure_ascii=False)}" for name, value in parts.items()]
    # apostrophes only occur within JSON strings, where they may be escaped
    text = trace_text(witness).replace("'", "\\u0027")
    return "\n".join([f"[entries.{options.id}]", *lines, f"versions = {{ {versions} }}", f"witness = '''\n{text}'''\n"])


def _version(name: str, sides: list[dict[str, str]]) -> str | list[str]:
    found = [side[name] for side in sides if name in side]
    if not found:
        raise UsageError(f"--package {name} is installed for neither engine: name what the difference depends on.")
    return found[0] if len({*found}) == 1 else found
