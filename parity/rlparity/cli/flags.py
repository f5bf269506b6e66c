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
        "MODULE:ATTRIBUTE of a rlparity.World, such as my_module:WORLD, or the name of one that an installed package "
        "registers (default: the only registered one, or the only one with these engines)",
    )
}
JSON: Flags = {"--json": switch("print one JSON object instead of text")}
EVERY: Flags = {
    **WORLD,
    "--timeout": value(
        "SECONDS", "how long an engine may take for one answer (default: %(default)g)", SECONDS, DEFAULT_TIMEOUT
    ),
    **JSON,
}
"""Flags of every command that opens engines; ``add_price_flags`` adds those of the prices."""
PLAY: Flags = {
    "--steps": value("N", "steps of each game (default: %(default)s)", STEPS),
    "--games": value("B", "games (default: %(default)s)", GAMES),
    "--seed": value(
        "S",
        "game i starts from S+i, every second one from a fixed multiple of 2^32 more; choices are drawn from S too "
        "(default: 0)",
        SEED,
        0,
    ),
    "--source": value(
        "WHAT",
        "how actions are chosen: uniform (at random), directed (by the world's own starts and policies), explore "
        "(towards what was seldom seen), policy:NAME (by one of the world's policies, or a file that it reads) or "
        "traces:DIR (as recorded) (default: %(default)s)",
    ),
    "--invalid": value("SHARE", "share of actions mixed in that the mask forbids (default: %(default)s)", SHARE, 0.01),
}
PAIR: Flags = {
    "--engines": value(
        "A,B",
        "reference, and the engine to compare with it (default: the world's first two); NAME@PLACE is an engine in a "
        "process of its own, with PLACE one of rev:COMMIT, python:FILE, pip:REQUIREMENT, cpu and cuda; tape:DIR is a "
        "recorded reference (`rlparity record --tape`); gym:ID, gymvec:ID, gymnax:ID, pgx:ID, jumanji:ID, "
        "envpool:ID, jaxmarl:ID, pettingzoo:MODULE and dm_env:MODULE:FUNCTION are environments of these libraries, and "
        "need no --world",
        two_engines,
    )
}
LEDGER: Flags = {
    "--ledger": value("FILE", "known differences, which may show as the file says (`rlparity ledger`)", Path)
}
COMPARISON: Flags = {
    **EVERY,
    **PAIR,
    **PLAY,
    "--auto-reset": switch(
        "engines start the next game themselves where one ends; how ended games look is not compared"
    ),
    "--mode": value(
        "MODE",
        "strict: both engines start from seeds; injected: each game starts in the reference's state; "
        "resynchronised: each step does; free-running: both play on after they differ, each acted on by what it "
        "shows, and the effect is measured (default: %(default)s)",
        OneOf((*MODES, FREE_RUNNING)),
        STRICT,
    ),
    **LEDGER,
    "--output --out": value("DIR", "where traces and pages go (default: %(default)s)", Path, Path("rlparity-report")),
    "--max-divergences": value("N", "diverging games to collect before the run stops (default: %(default)s)", GAMES, 1),
    "--shrink-seconds": value(
        "SECONDS", "time to spend on making a case small (default: %(default)g)", FloatRange(0, SECONDS.most), 60.0
    ),
    "--draw-prices": switch("draw the prices of the reward from the seed, unless they are given"),
    "--no-report": switch("write no trace and no page"),
    "--noise": value("N", "play the reference against itself in N runs, and propose tolerances", IntRange(0, 100), 0),
    "--infos": switch("compare the infos of environments too"),
    "--strict": switch("exit with 1 where the verdict is LIMITED, too"),
}
RUN: Flags = {**COMPARISON, "--debug": switch("open the debugger's screen at the first divergence")}
REPLAY: Flags = {
    **EVERY,
    "trace": {"type": Path, "help": "trace file"},
    "--engines": value("A,B", "other engines than the trace's", two_engines),
    "--html": value("FILE", "write the report page to this file too", OutputFile(makes_folders=True)),
}
DEBUG: Flags = {
    **EVERY,
    "trace": {"type": Path, "nargs": "?", "help": "trace or golden episode to open (default: a new game)"},
    "--engines": PAIR["--engines"] | {"type": lambda text: two_engines(text if "," in text else f"{text},{text}")},
    "--seed": value("S", "seed of a new game (default: 0)", SEED),
    "--actions": value("LIST", "actions of the seed's game, such as up,up,3"),
    "--agent": value("AGENT", "file or name of an agent that chooses actions (default: drawn uniformly)"),
    "--until": several(
        "CONDITION",
        "no screen, but run until this holds: MARK, RULE, FIELD < VALUE, action NAME, draw SITE or differs FIELD",
    ),
    "--commands": switch("no screen, but carry out its commands, one a line of standard input, with JSON for each"),
    "--write-test": value(
        "FILE", "show no screen, but write the game until then as a test of pytest", OutputFile(makes_folders=True)
    ),
}
REWARDS: Flags = {
    **EVERY,
    **PAIR,
    "--golden": value("DIR", "folder of episodes (default: the world's own)", Path),
    "--accept": switch("renew the episodes, if the engines agree"),
}
RECORD: Flags = {
    **EVERY,
    **PAIR,
    **PLAY,
    "--seed": value("S", "games start from S, S+1, ...; choices are drawn from S too (default: 0)", SEED, 0),
    "--output --out": value("DIR", "folder to write to (default: the world's golden one)", Path),
    "--tape": value("DIR", "write no episodes but a tape, which --engines tape:DIR,B holds engine B to", Path),
    "--states": switch("of a tape: record the state of every game after every step"),
    "--marks": switch("of a tape: record how often each mark fired"),
    "--auto-reset": COMPARISON["--auto-reset"],
    "--mode": {**COMPARISON["--mode"], "type": OneOf(MODES)},
}
MUTANTS: Flags = {
    **EVERY,
    **PLAY,
    **LEDGER,
    "--engine": value("NAME", "the engine to mutate (default: every one with mutants)"),
    "--tests": value(
        "TABLE",
        "instead of a world's: the mutants of this TOML file, planted in a copy of the working directory and "
        "judged by the tests that they name",
        Path,
    ),
    "--generate": value(
        "N",
        "instead of a world's: N mutants of each engine, made by small edits of its source that --seed chooses",
        GAMES,
    ),
    "--only": several("MUTANT", "only this mutant"),
    "--jobs": value("N", "mutants at a time (default: %(default)s, the cores)", IntRange(1, 1024), os.cpu_count() or 1),
}
DIFF: Flags = {
    **EVERY,
    "a": {"metavar": "SIDE-A", "help": ". (the working directory), a git revision, pip:REQUIREMENT or python:FILE"},
    "b": {"metavar": "SIDE-B", "help": "the other side, of the same kinds"},
    "--engine": value("NAME", "the engine to compare (default: the world's reference)"),
    **{name: PLAY[name] for name in ("--steps", "--seed")},
    "--games": value("B", "directed games, and games of each agent (default: %(default)s)", GAMES),
    "--invalid": value("SHARE", "share of invalid actions in directed games (default: %(default)s)", SHARE, 0.01),
    "--agent": several("AGENT", "file or name of an agent to play (default: the first that comes with the world)"),
    "--price-a": several("NAME=VALUE", "change a price on side A only"),
    "--price-b": several("NAME=VALUE", "change a price on side B only"),
    "--expect": several("FAMILY", "let this differ, such as rewards:kills, observation or state:player"),
    "--all": switch("list every row of the tables, not the first ten"),
    "--cases": value("N", "differences to make small and show (default: %(default)s)", IntRange(0, 100), 4),
    "--shrink-seconds": value(
        "SECONDS", "time for making each small (default: %(default)g)", FloatRange(0, SECONDS.most), 5.0
    ),
    "--html": value("FILE", "write a page of the cases and episodes", OutputFile()),
    "--json": value("FILE", "write the result as JSON (-: print it instead of text)", STREAM),
    "--markdown": value("FILE", "write the result as a comment for a pull request", STREAM),
}
TRANSFER: Flags = {
    **EVERY,
    "a": {"metavar": "FIRST", "help": "the engine to train on"},
    "b": {"metavar": "SECOND", "help": "the engine to compare it with"},
    "--agent": {**several("AGENT", "file or name of an agent to play (default: train policies)"), "type": Path},
    "--policies": value("N", "policies to train, each from another seed (default: %(default)s)", IntRange(1, 100), 3),
    "--train-steps": value("N", "steps to train each policy for (default: %(default)s)", STEPS, 50_000),
    "--games": value("B", "least games of each policy (default: %(default)s)", IntRange(FEWEST_GAMES, GAMES.most), 200),
    "--steps": value("N", "longest game (default: %(default)s)", STEPS, 1000),
    "--seed": PLAY["--seed"],
    "--margin": value(
        "SHARE",
        "largest difference that is equivalent, as a share: of the first engine's mean (or its standard deviation, "
        "if larger) for return and length, of the games for endings (default: %(default)g)",
        SHARE,
        0.05,
    ),
}
LEDGER_CHECK: Flags = {**EVERY, "file": {"type": Path, "help": "ledger, a TOML file"}, **PAIR}
LEDGER_ADD: Flags = {
    **LEDGER_CHECK,
    "--trace": value("FILE", "trace of the difference, which `rlparity run` wrote", Path) | REQUIRED,
    "--id": value("ID", "name of the entry") | REQUIRED,
    "--kind": value("KIND", f"why the engines differ: {' or '.join(KINDS)}", OneOf(KINDS)) | REQUIRED,
    "--citation": value("TEXT", "where it is documented or reported") | REQUIRED,
    "--then": value("WHAT", f"what a run does then: {' or '.join(THEN)}", OneOf(THEN)) | REQUIRED,
    "--package": several("NAME", "a package whose present version the difference depends on") | REQUIRED,
    "--share": value("SHARE", "share of steps that it may explain (default: %(default)s)", SHARE, 0.01),
}


def settings_of(options: Namespace, **others: Any) -> Settings:  # noqa: ANN401 - other settings
    """Make Settings from the flags of the same names; ``others`` overrides them."""
    given = {each.name: getattr(options, each.name) for each in fields(Settings) if hasattr(options, each.name)}
    return Settings(**{**given, **others})
