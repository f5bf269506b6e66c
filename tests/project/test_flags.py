"""Every flag of every command, found by asking the parsers: a wrong number is one sentence, quickly."""

import argparse
import math
import re
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from goodharts.cli.main import PROGRAM as GOODHARTS
from hackmatrix.cli.main import PROGRAM
from rlparity import UsageError
from rlparity.cli import main as parity_cli
from rlparity.io.arguments import FloatRange, IntRange, OutputFile, Values, parser_of
from rlworldkit.cli import app

WORDS = ["nan", "inf", "-inf", "-1", "0", "1", "0.5", "1e400", "1" * 5000]
WORDS += map(str, (10**18, 2**31, 2**63, 2**64))
NO_NUMBERS = ["", " ", "--", "x", "1\n2"]
LISTS = {"--engines", "--actions", "bench --num-envs"}
"""Flags with readers of their own: of several names, actions or numbers."""


def every_parser() -> Iterator[argparse.ArgumentParser]:
    for name in (*app.kit_commands(PROGRAM), *PROGRAM.commands):
        yield parser_of(partial(app.main, PROGRAM, [name]))
    for name in (*app.kit_commands(GOODHARTS), *GOODHARTS.commands):
        yield parser_of(partial(app.main, GOODHARTS, [name]))
    parser = parity_cli.build_parser()
    (commands,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    yield from commands.choices.values()


def flags() -> Iterator[tuple[str, argparse.ArgumentParser, argparse.Action]]:
    """Name, parser and action of everything with a value that a person may give."""
    for parser in every_parser():
        for action in parser._actions:
            if action.nargs != 0:
                yield f"{parser.prog} {(*action.option_strings, action.dest)[0]}", parser, action


FLAGS = list(flags())
COMMANDS = list(dict.fromkeys(parser.prog for _, parser, _ in FLAGS))


def is_list(name: str) -> bool:
    return any(name.endswith(f" {each}") for each in LISTS)


def outcome(parser: argparse.ArgumentParser, words: list[str], capsys: pytest.CaptureFixture[str]) -> Any:  # noqa: ANN401
    """Parse the words; None where they end the command, in one sentence and with 2."""
    began = time.monotonic()
    parsed: Any = None
    code: Any = 0
    try:
        parsed = parser.parse_args(words)
    except SystemExit as stop:
        code = stop.code
    except UsageError as error:
        code = error.exit_code
        print(error, file=sys.stderr)
    assert time.monotonic() - began < 1
    said = capsys.readouterr()
    assert (code, said.out, said.err.count("\n")) == ((2, "", 1) if parsed is None else (0, "", 0))
    return parsed


def test_every_flag_says_which_values_it_takes() -> None:
    for name, _, action in FLAGS:
        is_text = action.type in (None, str, Path) and not isinstance(action.default, (int, float))
        assert is_text or action.choices or is_list(name) or isinstance(action.type, (Values, OutputFile)), (
            f"{name} takes any {action.type}: give it the values of rlparity.io.arguments"
        )
        if action.metavar in ("N", "S", "B", "SECONDS", "SHARE"):
            assert isinstance(action.type, (IntRange, FloatRange)), f"{name} stands for a number: give it a range"


@pytest.mark.parametrize("command", COMMANDS)
def test_no_word_breaks_a_flag_and_a_number_lies_in_its_range_or_is_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    of_command = [(parser, action) for _, parser, action in FLAGS if parser.prog == command]
    # What is required besides is a fault as well, and would hide whether a number is one.
    for _, action in of_command:
        action.required = False
    for parser, action in of_command:
        if action.option_strings:
            give_every_word(parser, action, capsys)


def give_every_word(
    parser: argparse.ArgumentParser, action: argparse.Action, capsys: pytest.CaptureFixture[str]
) -> None:
    flag, is_number = action.option_strings[0], isinstance(action.type, (IntRange, FloatRange))
    for word in (*WORDS, *NO_NUMBERS):
        for words in ([f"{flag}={word}"], [flag, word])[: 1 + is_number]:
            parsed = outcome(parser, words, capsys)
            if isinstance(action.type, (IntRange, FloatRange)) and parsed is not None:
                value = getattr(parsed, action.dest)
                assert word not in NO_NUMBERS
                assert math.isfinite(value)
                assert value == float(word)
                assert action.type.least <= value <= action.type.most
    if isinstance(action.type, (IntRange, FloatRange)) and action.default is not None:
        assert action.type.fault(action.default) is None


OLD_NAMES = {
    "--clip-range": "--clip-eps",
    "--episodes": "--games",
    "--eval-episodes": "--eval-games",
    "--models-dir": "--checkpoint-dir",
    "--n-envs": "--num-envs",
    "--n-epochs": "--update-epochs",
    "--n-steps": "--num-steps",
    "--out": "--output",
    "--timesteps": "--total-timesteps",
}


def test_one_word_is_used_in_all_commands_and_the_words_of_before_come_last() -> None:
    assert {option for _, _, action in FLAGS for option in action.option_strings} >= OLD_NAMES.keys()
    for _, _, action in FLAGS:
        for old in OLD_NAMES.keys() & {*action.option_strings}:
            assert action.option_strings[-2:] == [OLD_NAMES[old], old]


def test_the_help_of_train_lists_twenty_flags_and_every_one_if_asked(capsys: pytest.CaptureFixture[str]) -> None:
    listed = {}
    for flag in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as ended:
            app.main(PROGRAM, ["train", flag])
        assert ended.value.code == 0
        listed[flag] = set(re.findall(r"^  (--[a-z-]+)", capsys.readouterr().out, re.MULTILINE)) - {"--help-all"}
    every = {action.option_strings[0] for name, _, action in FLAGS if name.startswith("hackmatrix train ")}
    assert len(listed["--help"]) == 20
    assert listed["--help"] < listed["--help-all"] >= every


def test_every_flag_for_a_file_to_write_checks_it_before_the_command_works() -> None:
    both = [f"compare --{kind}" for kind in ("json", "markdown", "picture")]
    both += ["bench --json", "play --save", "watch --record", "view --output", "export --output", "evaluate --json"]
    one, other = ("watch-sb3 --record", "explain --json"), ("brain-view --record",)
    harness = "replay --html", "debug --write-test", "diff --html", "diff --json", "diff --markdown"
    programs = {"hackmatrix": (*both, *one), "goodharts": (*both, *other), "rlparity": harness}
    expected = {f"{program} {words}" for program, several in programs.items() for words in several}
    assert {name for name, _, action in FLAGS if isinstance(action.type, OutputFile)} == expected
