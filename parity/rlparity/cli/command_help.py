"""What ``--help`` of the command ``rlparity`` explains: descriptions, examples and exit codes, by command."""

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
    "rlparity ledger add ledger.toml --world my_module:WORLD --trace rlparity-report/trace.json \\\n"
    "    --id rest-heals-less --kind bug --citation https://... --then resynchronise --package gymnasium"
)
_HELP = {
    "rlparity": _Help(
        "An engine is one implementation of an environment, such as the original or a port of it. A world is a "
        "rlparity.World object in a Python module: it names the engines of an environment, its actions and what a "
        "state holds. The first engine is the reference. `rlparity init` writes a small world to read and to change.",
        (
            "rlparity init my-port",
            "rlparity run --world my_module:WORLD",
            "rlparity run --engines gym:CartPole-v1,gymvec:CartPole-v1",
        ),
    ),
    "rlparity init": _Help(
        "`python -m pytest` in the folder compares the two engines. Then put your own in their place.",
        ("rlparity init my-port",),
    ),
    "rlparity doctor": _Help(
        "It looks for packages, registered worlds, libraries of environments, git and the cache folder. A note is no "
        "fault.",
        ("rlparity doctor",),
    ),
    "rlparity run": _Help(
        "Both engines get the same seeds and actions. Observations, masks, rewards, ends and states must be the same, "
        "bit for bit. The first difference is shrunk to a start and a few actions, and written as a trace, which "
        "`rlparity replay` plays again, and as a page.",
        (
            "rlparity run --world my_module:WORLD",
            "rlparity run --world my_module:WORLD --engines original,port --games 256 --steps 500",
            "rlparity run --world my_module:WORLD --engines port@rev:main,port",
            "rlparity run --engines gym:CartPole-v1,gymvec:CartPole-v1",
        ),
    ),
    "rlparity replay": _Help(
        "A trace is a JSON file of a start and actions, which `rlparity run` writes where engines differ.",
        ("rlparity replay --world my_module:WORLD rlparity-report/trace.json",),
    ),
    "rlparity debug": _Help(
        "Both boards, what differs, rewards, marks, actions, observation and state are shown for every step; `?` lists "
        "the keys. `rlparity.debug.Session` does the same in Python.",
        (
            "rlparity debug --world my_module:WORLD rlparity-report/trace.json",
            "rlparity debug --world my_module:WORLD --seed 7 --until differs --write-test tests/test_seed_7.py",
        ),
    ),
    "rlparity coverage": _Help(
        "A world may have marks, each of which belongs to a rule of the game. Engines count how often each mark fires; "
        "one that never does stands for a rule that the games did not test.",
        ("rlparity coverage --world my_module:WORLD --games 256",),
    ),
    "rlparity rewards": _Help(
        "Golden episodes are games that `rlparity record` wrote down. A reward that is another one than was recorded "
        "is listed by its components.",
        (
            "rlparity rewards --world my_module:WORLD --golden golden",
            "rlparity rewards --world my_module:WORLD --golden golden --accept",
        ),
    ),
    "rlparity record": _Help(
        "A golden episode has the actions and rewards of one game, for `rlparity rewards`. A tape has all that an "
        "engine gives in many games, so that another engine can be compared with it where the first cannot run.",
        (
            "rlparity record --world my_module:WORLD --out golden",
            "rlparity record --world my_module:WORLD --engines original,port --tape tape --states",
            "rlparity run --world my_module:WORLD --engines tape:tape,port",
        ),
    ),
    "rlparity mutants": _Help(
        "A mutant is a small wrong edit of the source, which the world lists for an engine. One that survives shows "
        "what the comparison, or the tests, would not notice.",
        (
            "rlparity mutants --world my_module:WORLD",
            "rlparity mutants --tests mutants.toml --jobs 4",
        ),
    ),
    "rlparity diff": _Help(
        "The same games are played on both sides. What differs is listed by family, with small cases, and with what "
        "the change does to the returns of agents. Revisions, and . as the working directory, are of the repository "
        "that the command runs in; a world that is imported from another one is refused.",
        (
            "rlparity diff main . --world my_module:WORLD",
            "rlparity diff . . --world my_module:WORLD --price-b kills=0.5 --html diff.html",
        ),
    ),
    "rlparity serve": _Help(
        "Other commands start it for an engine with a place, such as port@rev:main; nobody types it.",
        ("rlparity serve --world my_module:WORLD --engine port",),
    ),
    "rlparity ledger": _Help(
        "",
        (
            _ADD,
            "rlparity run --world my_module:WORLD --ledger ledger.toml",
            "rlparity ledger check ledger.toml --world my_module:WORLD",
        ),
    ),
    "rlparity ledger add": _Help(
        "`rlparity ledger --help` explains the file.",
        (_ADD,),
    ),
    "rlparity ledger check": _Help(
        "`rlparity ledger --help` explains the file.", ("rlparity ledger check ledger.toml --world my_module:WORLD",)
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
