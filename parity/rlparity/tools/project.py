"""Parser of ``[tool.rlparity]`` in a ``pyproject.toml``, which lists the comparisons that a project's tests make."""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rlparity.core.ledger import read_ledger
from rlparity.core.source_specs import open_source
from rlparity.core.sources import POLICY, TRACES
from rlparity.engines.registry import engine_name, load_pair, load_world
from rlparity.engines.tape import TAPE
from rlparity.errors import UsageError, quoted
from rlparity.io.arguments import GAMES, SECONDS, SEED, SHARE, STEPS, Values, two_engines
from rlparity.io.safe_read import is_object, read_toml, refused
from rlparity.tools.coverage import require_marks
from rlparity.world import PLACE

PROJECT = "pyproject.toml"
DISTRIBUTION = "rl-parity"
REQUIRE_PLUGIN = f'add required_plugins = ["{DISTRIBUTION}"] to [tool.pytest.ini_options]'
GOLDEN = "golden"
_KEYS: dict[str, type | Values] = {
    "world": str,
    "engines": list,
    "optional": list,
    "sources": list,
    "games": GAMES,
    "steps": STEPS,
    "seed": SEED,
    "auto-reset": bool,
    "coverage": SHARE,
    "ledger": str,
    "draw-prices": SHARE,
    "budget-seconds": SECONDS,
    "infos": bool,
    "strict": bool,
    GOLDEN: str,
}
"""Type of the value by key; lists hold strings. ``coverage`` may be a list as well."""
_WORDS = {str: "a text", list: "a list of texts", bool: "true or false"}


class ProjectCheck(NamedTuple):
    """One comparison of two engines of a world.

    names: of the table, of the pair, and of the source of actions (or ``golden``). spec: the world, as for ``--world``.
    arguments: keywords of ``assert_lockstep`` or ``assert_golden``. optional: engines that may be missing.
    """

    names: tuple[str, str, str]
    spec: str
    engines: tuple[str, str]
    arguments: Mapping[str, Any]
    optional: tuple[str, ...]


def read_tables(path: Path) -> dict[str, dict[str, Any]] | None:
    """Read the tables ``[tool.rlparity.worlds.NAME]`` of a ``pyproject.toml`` by name; None without [tool.rlparity].

    Raises UsageError for an unknown key and for a value of the wrong type.
    """
    try:
        with refused(path, "project"):
            tool = read_toml(path).get("tool")
    except FileNotFoundError:
        return None
    if not is_object(tool) or "rlparity" not in tool:
        return None
    table = tool["rlparity"]
    tables = table["worlds"] if is_object(table) and table.keys() == {"worlds"} else None
    if not is_object(tables) or not tables or not all(map(is_object, tables.values())):
        raise UsageError(f"[tool.rlparity] in {path} must hold tables [tool.rlparity.worlds.NAME] and nothing else.")
    for name, values in tables.items():
        for key, value in values.items():
            with _naming(name, key):
                if key not in _KEYS:
                    raise UsageError(f"there is no such key: choose among {', '.join(_KEYS)}.")
                if fault := _fault(key, value):
                    raise UsageError(f"it {fault}, got {quoted(value)}.")
    return tables


def _fault(key: str, value: Any) -> str | None:  # noqa: ANN401 - of whatever type it is
    kind = list if key == "coverage" and isinstance(value, list) else _KEYS[key]
    if isinstance(kind, Values):
        return kind.fault(value)
    fits = isinstance(value, kind) and (not isinstance(value, list) or all(isinstance(text, str) for text in value))
    return None if fits else f"must be {_WORDS[kind]}"


def read_checks(tables: Mapping[str, Mapping[str, Any]]) -> list[ProjectCheck]:
    """List the comparisons of all tables; raises UsageError where one is invalid, or two have the same names."""
    found: dict[tuple[str, str, str], ProjectCheck] = {}
    for check in (check for named in tables.items() for check in checks_of(*named)):
        if found.setdefault(check.names, check).engines != check.engines:
            same = f"{','.join(check.engines)} and {','.join(found[check.names].engines)} are both '{check.names[1]}'"
            raise UsageError(f"[tool.rlparity.worlds.{check.names[0]}], engines: {same}: compare one in another table.")
    return [*found.values()]


def checks_of(name: str, table: Mapping[str, Any]) -> Iterator[ProjectCheck]:
    """Import the world of a table and yield its comparisons; raises UsageError where one is invalid."""
    spec = table.get("world", name)
    with _naming(name, "world"):
        world = load_world(spec)
    with _naming(name, "engines"):
        pairs = [two_engines(words) for words in table.get("engines", ())] or [load_pair(world)[2]]
    optional = tuple(table.get("optional", ()))
    for key, engines in {"engines": sum(pairs, start=()), "optional": optional}.items():
        with _naming(name, key):
            for engine in (each for each in engines if not each.startswith(TAPE)):  # tapes are read when tests run
                engine_name(world, engine if engine in world.engines else engine.partition(PLACE)[0])
    sources = table.get("sources", ["directed" if world.starts or world.policies else "uniform"])
    with _naming(name, "sources"):
        for source in sources:
            if not source.startswith((TRACES, POLICY)):  # a folder or a policy is read when its test runs
                open_source(source, world, 1, np.random.default_rng(0))
    if "coverage" in table:
        with _naming(name, "coverage"):
            require_marks(world)
    if "ledger" in table:
        with _naming(name, "ledger"):
            read_ledger(Path(table["ledger"]))
    own = "world", "engines", "optional", "sources", GOLDEN
    options = {"strict": True} | {key.replace("-", "_"): value for key, value in table.items() if key not in own}
    kinds = {source: {**options, "source": source} for source in sources}
    if folder := table.get(GOLDEN, world.golden):
        kinds[GOLDEN] = {"folder": Path(folder)}
    for engines in pairs:
        chosen = [kind for kind in kinds if kind != GOLDEN or not engines[0].startswith(TAPE)]
        if not chosen:
            with _naming(name, "sources"):
                raise UsageError("nothing is compared: name a source.")
        for kind in chosen:
            yield ProjectCheck((name, "-".join(engines), kind), spec, engines, kinds[kind], optional)


@contextmanager
def _naming(name: str, key: str) -> Iterator[None]:
    """Prefix errors with the table and the key that they are about."""
    try:
        yield
    except (UsageError, argparse.ArgumentTypeError) as error:
        raise UsageError(f"[tool.rlparity.worlds.{name}], {key}: {error}") from error
