"""What ``--help`` of the command ``parity`` explains: descriptions, examples and exit codes, by command."""

from __future__ import annotations

import argparse
import textwrap
from typing import NamedTuple

_EXIT_CODES = (
    "Exit codes: 0 all is well, 1 something differs (or is missing), 2 wrong usage, 3 an engine failed, 130 it was "
    "stopped (Ctrl+C)."
)


class _Help(NamedTuple):
    """What a command does beyond its summary, and commands to copy."""

    about: str
    examples: tuple[str, ...]


_ADD = (
    "parity ledger add ledger.toml --world my_module:WORLD --trace parity-report/trace.json --id rest-heals-less \\\n"
    "    --kind bug --citation https://... --then resynchronise --package gymnasium"
)
_HELP = {
    "parity": _Help(
        "An engine is one implementation of an environment, such as the original or a port of it. A world is a "
        "parity.World object in a Python module: it names the engines of an environment, its actions and what a state "
        "holds. The first engine is the reference. `parity init` writes a small world to read and to change.",
        (
            "parity init my-port",
            "parity run --world my_module:WORLD",
            "parity run --engines gym:CartPole-v1,gymvec:CartPole-v1",
        ),
    ),
    "parity init": _Help(
        "`python -m pytest` in the folder compares the two engines. Then put your own in their place.",
        ("parity init my-port",),
    ),
    "parity doctor": _Help(
        "It looks for packages, registered worlds, libraries of environments, git and the cache folder. A note is no "
        "fault.",
        ("parity doctor",),
    ),
    "parity run": _Help(
        "Both engines get the same seeds and actions. Observations, masks, rewards, ends and states must be the same, "
        "bit for bit. The first difference is shrunk to a start and a few actions, and written as a trace, which "
        "`parity replay` plays again, and as a page.",
        (
            "parity run --world my_module:WORLD",
            "parity run --world my_module:WORLD --engines original,port --games 256 --steps 500",
            "parity run --world my_module:WORLD --engines port@rev:main,port",
            "parity run --engines gym:CartPole-v1,gymvec:CartPole-v1",
        ),
    ),
    "parity replay": _Help(
        "A trace is a JSON file of a start and actions, which `parity run` writes where engines differ.",
        ("parity replay --world my_module:WORLD parity-report/trace.json",),
    ),
    "parity debug": _Help(
        "Both boards, what differs, rewards, marks, actions, observation and state are shown for every step; `?` lists "
        "the keys. `parity.debug.Session` does the same in Python.",
        (
            "parity debug --world my_module:WORLD parity-report/trace.json",
            "parity debug --world my_module:WORLD --seed 7 --until differs --write-test tests/test_seed_7.py",
        ),
    ),
    "parity coverage": _Help(
        "A world may have marks, each of which belongs to a rule of the game. Engines count how often each mark fires; "
        "one that never does stands for a rule that the games did not test.",
        ("parity coverage --world my_module:WORLD --games 256",),
    ),
    "parity rewards": _Help(
        "Golden episodes are games that `parity record` wrote down. A reward that is another one than was recorded is "
        "listed by its components.",
        (
            "parity rewards --world my_module:WORLD --golden golden",
            "parity rewards --world my_module:WORLD --golden golden --accept",
        ),
    ),
    "parity record": _Help(
        "A golden episode has the actions and rewards of one game, for `parity rewards`. A tape has all that an engine "
        "gives in many games, so that another engine can be compared with it where the first cannot run.",
        (
            "parity record --world my_module:WORLD --out golden",
            "parity record --world my_module:WORLD --engines original,port --tape tape --states",
            "parity run --world my_module:WORLD --engines tape:tape,port",
        ),
    ),
    "parity mutants": _Help(
        "A mutant is a small wrong edit of the source, which the world lists for an engine. One that survives shows "
        "what the comparison, or the tests, would not notice.",
        (
            "parity mutants --world my_module:WORLD",
            "parity mutants --tests mutants.toml --jobs 4",
        ),
    ),
    "parity sanitize": _Help(
        "Silent faults are indices out of range, overflows of signed numbers, uninitialised values, NaN and infinity. "
        "Those that a program discards are not reported.",
        ("parity sanitize --world my_module:WORLD --engine port",),
    ),
    "parity diff": _Help(
        "The same games are played on both sides. What differs is listed by family, with small cases, and with what "
        "the change does to the returns of agents. Revisions, and . as the working directory, are of the repository "
        "that the command runs in; a world that is imported from another one is refused.",
        (
            "parity diff main . --world my_module:WORLD",
            "parity diff . . --world my_module:WORLD --price-b kills=0.5 --html diff.html",
        ),
    ),
    "parity serve": _Help(
        "Other commands start it for an engine with a place, such as port@rev:main; nobody types it.",
        ("parity serve --world my_module:WORLD --engine port",),
    ),
    "parity ledger": _Help(
        "",
        (
            _ADD,
            "parity run --world my_module:WORLD --ledger ledger.toml",
            "parity ledger check ledger.toml --world my_module:WORLD",
        ),
    ),
    "parity ledger add": _Help(
        "`parity ledger --help` explains the file.",
        (_ADD,),
    ),
    "parity ledger check": _Help(
        "`parity ledger --help` explains the file.", ("parity ledger check ledger.toml --world my_module:WORLD",)
    ),
}


class _Formatter(argparse.HelpFormatter):
    """Wraps each paragraph of a description, and leaves indented ones as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = text.rstrip().split("\n\n")
        wrap = super()._fill_text
        return "\n\n".join(each if each.startswith(" ") else wrap(each, width, indent) for each in paragraphs)


def explain(parser: argparse.ArgumentParser, summary: str) -> None:
    """Give the parser of a command its description, examples and exit codes."""
    about, examples = _HELP[parser.prog]
    parser.description = f"{summary}\n\n{about}".strip()
    parser.epilog = "\n\n".join(["Examples:", textwrap.indent("\n".join(examples), "  "), _EXIT_CODES])
    parser.formatter_class = _Formatter
