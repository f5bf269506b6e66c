"""Flags of the command ``rlparity``: keyword arguments of ``ArgumentParser.add_argument``, by flag."""

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rlparity.core.guard import DEFAULT_TIMEOUT
from rlparity.core.ledger import KINDS, THEN
from rlparity.core.settings import FREE_RUNNING, MODES, STRICT, Settings
from rlparity.io.arguments import (
    GAMES,
    SECONDS,
    SEED,
    SHARE,
    STEPS,
    FloatRange,
    IntRange,
    OneOf,
    OutputFile,
    two_engines,
)
from rlparity.tools.transfer import FEWEST_GAMES

Flags = Mapping[str, dict[str, Any]]
STREAM = OutputFile(has_streams=True)
REQUIRED = {"required": True}


def value(name: str, text: str, kind: Callable[[str], Any] = str, default: object = None) -> dict[str, Any]:
    """Make a flag with a value."""
    return {"metavar": name, "help": text, "type": kind, "default": default}


def several(name: str, text: str) -> dict[str, Any]:
    """Make a flag that may be given several times."""
    return {"metavar": name, "help": f"{text}; repeatable", "action": "append", "default": []}


def switch(text: str) -> dict[str, Any]:
    """Make a flag without a value."""
    return {"action": "store_true", "help": text}


WORLD: Flags = {
    "--world": value(
        "NAME",
        "world to play, as MODULE:ATTRIBUTE, such as my_module:WORLD, or by a name that an installed package registers "
        "(default: the only registered world, or the only one with these engines)",
    )
}
JSON: Flags = {"--json": switch("print one JSON object instead of text")}
EVERY: Flags = {
    **WORLD,
    "--timeout": value(
        "SECONDS", "time limit for one answer of an engine (default: %(default)g)", SECONDS, DEFAULT_TIMEOUT
    ),
    **JSON,
}
"""Flags of every command that opens engines; ``add_price_flags`` adds those of the prices."""
PLAY: Flags = {
    "--steps": value("N", "number of steps of each game (default: %(default)s)", STEPS),
    "--games": value("B", "number of games (default: %(default)s)", GAMES),
    "--seed": value(
        "S",
        "seed of the run: actions are drawn from S, and game i starts from S+i, plus a fixed multiple of 2^32 in every "
        "second game (default: 0)",
        SEED,
        0,
    ),
    "--source": value(
        "WHAT",
        "source of the actions: uniform (random), directed (the world's own starts and policies), explore (towards "
        "states that are rarely seen), policy:NAME (a policy of the world, or a file that it reads) or traces:DIR "
        "(recorded games) (default: %(default)s)",
    ),
    "--invalid": value("SHARE", "share of invalid (masked) actions to mix in (default: %(default)s)", SHARE, 0.01),
}
PAIR: Flags = {
    "--engines": value(
        "A,B",
        "two engines to compare, the reference first (default: the world's first two). NAME@PLACE runs an engine in "
        "its own process, where PLACE is rev:COMMIT, python:FILE, pip:REQUIREMENT, cpu or cuda. tape:DIR is a recorded "
        "reference (`rlparity record --tape`). gym:ID, gymvec:ID, gymnax:ID, pgx:ID, jumanji:ID, envpool:ID, "
        "jaxmarl:ID, pettingzoo:MODULE and dm_env:MODULE:FUNCTION are environments of these libraries, without --world",
        two_engines,
    )
}
LEDGER: Flags = {
    "--ledger": value("FILE", "ledger of known differences, which the run allows (`rlparity ledger`)", Path)
}
COMPARISON: Flags = {
    **EVERY,
    **PAIR,
    **PLAY,
    "--auto-reset": switch(
        "let the engines restart ended games by themselves; last states of ended games are not compared"
    ),
    "--mode": value(
        "MODE",
        "how the engines are aligned. strict: both start from the same seeds; injected: each game starts from the "
        "reference's state; resynchronised: each step starts from it; free-running: both play on after a difference, "
        "with actions for their own observations, and its effect is measured (default: %(default)s)",
        OneOf((*MODES, FREE_RUNNING)),
        STRICT,
    ),
    **LEDGER,
    "--output --out": value("DIR", "folder for traces and pages (default: %(default)s)", Path, Path("rlparity-report")),
    "--max-divergences": value("N", "number of diverging games that stop the run (default: %(default)s)", GAMES, 1),
    "--shrink-seconds": value(
        "SECONDS", "time limit for shrinking a divergence (default: %(default)g)", FloatRange(0, SECONDS.most), 60.0
    ),
    "--draw-prices": switch("draw random prices of the reward from the seed, unless prices are given"),
    "--no-report": switch("write no trace and no page"),
    "--noise": value("N", "number of runs of the reference against itself, to propose tolerances", IntRange(0, 100), 0),
    "--infos": switch("also compare the infos of environments"),
    "--strict": switch("also exit with 1 if the verdict is LIMITED"),
}
RUN: Flags = {**COMPARISON, "--debug": switch("open the debugger's screen at the first divergence")}
REPLAY: Flags = {
    **EVERY,
    "trace": {"type": Path, "help": "trace file to replay"},
    "--engines": value("A,B", "engines to use instead of the trace's", two_engines),
    "--html": value("FILE", "also write the report page to this file", OutputFile(makes_folders=True)),
}
DEBUG: Flags = {
    **EVERY,
    "trace": {"type": Path, "nargs": "?", "help": "trace or golden episode to open (default: a new game)"},
    "--engines": PAIR["--engines"] | {"type": lambda text: two_engines(text if "," in text else f"{text},{text}")},
    "--seed": value("S", "seed of a new game (default: 0)", SEED),
    "--actions": value("LIST", "actions of the new game, such as up,up,3"),
    "--agent": value("AGENT", "agent that chooses actions, by file or name (default: uniform random)"),
    "--until": several(
        "CONDITION",
        "run without a screen until this holds: MARK, RULE, FIELD < VALUE, action NAME, draw SITE or differs FIELD",
    ),
    "--commands": switch("read debugger commands from standard input, one per line, and answer each in JSON"),
    "--write-test": value(
        "FILE", "write the game up to --until as a pytest test, without a screen", OutputFile(makes_folders=True)
    ),
}
REWARDS: Flags = {
    **EVERY,
    **PAIR,
    "--golden": value("DIR", "folder of golden episodes (default: the world's own)", Path),
    "--accept": switch("update the episodes, if the engines agree"),
}
RECORD: Flags = {
    **EVERY,
    **PAIR,
    **PLAY,
    "--seed": value("S", "seed of the first game, then S+1, ...; actions are drawn from S (default: 0)", SEED, 0),
    "--output --out": value("DIR", "folder for golden episodes (default: the world's own)", Path),
    "--tape": value("DIR", "write a tape here, not episodes; --engines tape:DIR,B compares B with it", Path),
    "--states": switch("with --tape: also record the state of every game after every step"),
    "--marks": switch("with --tape: also record how often each mark fired"),
    "--auto-reset": COMPARISON["--auto-reset"],
    "--mode": {**COMPARISON["--mode"], "type": OneOf(MODES)},
}
MUTANTS: Flags = {
    **EVERY,
    **PLAY,
    **LEDGER,
    "--engine": value("NAME", "engine to mutate (default: every engine that has mutants)"),
    "--tests": value(
        "TABLE",
        "TOML file of mutants to use instead of a world's; they are planted in a copy of the working directory, and "
        "the tests that they name must catch them",
        Path,
    ),
    "--generate": value(
        "N",
        "number of mutants to generate for each engine, instead of a world's, by small edits drawn from --seed",
        GAMES,
    ),
    "--only": several("MUTANT", "mutant to run, instead of all"),
    "--jobs": value("N", "parallel mutants (default: %(default)s, the cores)", IntRange(1, 1024), os.cpu_count() or 1),
}
DIFF: Flags = {
    **EVERY,
    "a": {"metavar": "SIDE-A", "help": "old side: . (working directory), git revision, pip:REQUIREMENT or python:FILE"},
    "b": {"metavar": "SIDE-B", "help": "new side, of the same kinds"},
    "--engine": value("NAME", "engine to compare (default: the world's reference)"),
    **{name: PLAY[name] for name in ("--steps", "--seed")},
    "--games": value("B", "number of directed games, and of each agent's (default: %(default)s)", GAMES),
    "--invalid": value("SHARE", "share of invalid actions in directed games (default: %(default)s)", SHARE, 0.01),
    "--agent": several("AGENT", "agent to play, by file or name (default: the first that comes with the world)"),
    "--price-a": several("NAME=VALUE", "change a price on side A only"),
    "--price-b": several("NAME=VALUE", "change a price on side B only"),
    "--expect": several("FAMILY", "family that may differ, such as rewards:kills, observation or state:player"),
    "--all": switch("list every row of the tables, not the first ten"),
    "--cases": value("N", "number of differences to shrink and show (default: %(default)s)", IntRange(0, 100), 4),
    "--shrink-seconds": value(
        "SECONDS", "time limit for shrinking each (default: %(default)g)", FloatRange(0, SECONDS.most), 5.0
    ),
    "--html": value("FILE", "write a page of the cases and episodes", OutputFile()),
    "--json": value("FILE", "write the result as JSON (-: print it instead of text)", STREAM),
    "--markdown": value("FILE", "write the result as a comment for a pull request", STREAM),
}
TRANSFER: Flags = {
    **EVERY,
    "a": {"metavar": "FIRST", "help": "engine to train on"},
    "b": {"metavar": "SECOND", "help": "engine to compare it with"},
    "--agent": {**several("AGENT", "agent to play, by file or name (default: train policies)"), "type": Path},
    "--policies": value("N", "policies to train, each from another seed (default: %(default)s)", IntRange(1, 100), 3),
    "--train-steps": value("N", "steps to train each policy for (default: %(default)s)", STEPS, 50_000),
    "--games": value("B", "fewest games per policy (default: %(default)s)", IntRange(FEWEST_GAMES, GAMES.most), 200),
    "--steps": value("N", "maximum steps of a game (default: %(default)s)", STEPS, 1000),
    "--seed": PLAY["--seed"],
    "--margin": value(
        "SHARE",
        "largest difference that counts as equivalent: a share of the first engine's mean (or standard deviation, if "
        "larger) for return and length, a share of the games for endings (default: %(default)g)",
        SHARE,
        0.05,
    ),
}
LEDGER_CHECK: Flags = {**EVERY, "file": {"type": Path, "help": "ledger, a TOML file"}, **PAIR}
LEDGER_ADD: Flags = {
    **LEDGER_CHECK,
    "--trace": value("FILE", "trace of the difference, as `rlparity run` writes it", Path) | REQUIRED,
    "--id": value("ID", "name of the new entry") | REQUIRED,
    "--kind": value("KIND", f"why the engines differ: {' or '.join(KINDS)}", OneOf(KINDS)) | REQUIRED,
    "--citation": value("TEXT", "where the difference is documented or reported") | REQUIRED,
    "--then": value("WHAT", f"what a run does at the difference: {' or '.join(THEN)}", OneOf(THEN)) | REQUIRED,
    "--package": several("NAME", "package whose installed version the difference depends on") | REQUIRED,
    "--share": value("SHARE", "largest share of steps with the difference (default: %(default)s)", SHARE, 0.01),
}


def settings_of(options: Namespace, **others: Any) -> Settings:  # noqa: ANN401 - other settings
    """Make Settings from the flags of the same names; ``others`` overrides them."""
    given = {each.name: getattr(options, each.name) for each in fields(Settings) if hasattr(options, each.name)}
    return Settings(**{**given, **others})
