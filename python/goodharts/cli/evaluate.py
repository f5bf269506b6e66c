"""``goodharts evaluate``: let trained agents live on, and count what they eat and when they die."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from goodharts.cli.evaluations import add_settings, config_of, evaluations, written
from goodharts.evaluation import RANDOM
from goodharts.rules import DEFAULT_MODES, MODES
from parity.arguments import Parser
from parity.console import open_console
from parity.errors import UsageError
from worldkit.cli.outputs import JSON_HELP, STANDARD_OUTPUT, check_output

if TYPE_CHECKING:
    from goodharts.evaluation.evaluate import Evaluation
    from goodharts.models import Model

ALL = "all"


def main(argv: Sequence[str] | None = None) -> int:
    """Play, print the figures, write them as JSON where asked, and return 0.

    What has been found is printed and written even where a later evaluation is interrupted or fails.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        UsageError: a model, the configuration or the device cannot be used.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    check_output(parser, args.json)
    config = config_of(args)
    console = open_console(stderr=args.json == STANDARD_OUTPUT)
    found = evaluations(_models(args.mode, args.model), config, args.deterministic, console)
    written(_printed(found, console), args.json)
    return 0


def _printed(evaluations: Iterable[Evaluation], console: Console) -> Iterator[Evaluation]:
    """The same evaluations, each printed once it is there."""
    from goodharts.evaluation.report import as_sentence, as_table

    for each in evaluations:
        console.print(as_table(each))
        console.print(as_sentence(each), soft_wrap=True)
        yield each


def _models(players: tuple[str, ...] | None, path: Path | None) -> list[Model | None]:
    """The models to evaluate, None for chance; raises UsageError where one cannot be used."""
    from goodharts.models import model_path, read_model

    if path is None:
        return [None if name == RANDOM else read_model(model_path(name)) for name in players or DEFAULT_MODES]
    model = read_model(path)
    if players not in (None, (model.mode,)):
        raise UsageError(f"{path} holds a model of {model.mode}: leave --mode out, or say --mode {model.mode}.")
    return [model]


def _players(word: str) -> tuple[str, ...]:
    """Modes by name, separated by commas."""
    names = [name.strip() for name in word.split(",")]
    for name in names:
        if name not in (*MODES, ALL, RANDOM):
            choices = ", ".join((*MODES, ALL))
            raise argparse.ArgumentTypeError(f"there is no mode {name!r}: choose from {choices} and {RANDOM}")
    chosen = [mode for name in names for mode in (DEFAULT_MODES if name == ALL else (name,))]
    return tuple(dict.fromkeys(chosen))


def _parser() -> Parser:
    parser = Parser(
        prog="goodharts evaluate",
        description="Let trained agents live on, respawning when they die, and say what they ate and how long they "
        "lived, with 95% confidence intervals beside the published figures.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-m",
        "--mode",
        type=_players,
        metavar="MODE",
        help=f"modes, separated by commas, whose models/ppo_MODE.pth play: {', '.join(MODES)}; {ALL}: all but the "
        f"last; {RANDOM}: nobody's model, but chance (default {ALL})",
    )
    parser.add_argument("--model", type=Path, metavar="FILE", help="the model to evaluate, wherever it lies")
    add_settings(parser)
    parser.add_argument("--json", metavar="FILE", help=JSON_HELP)
    return parser
