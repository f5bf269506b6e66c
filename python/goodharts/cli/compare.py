"""``goodharts compare``: one table and one picture of all modes, beside the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from goodharts.cli.evaluations import PLAYING, add_settings, config_of, evaluations, written
from goodharts.rules import MODES
from parity.arguments import Parser
from parity.console import open_console, typed_command
from parity.errors import UsageError
from worldkit.cli.outputs import JSON_HELP, STANDARD_OUTPUT, check_output
from worldkit.cli.parser import fail

if TYPE_CHECKING:
    from argparse import Namespace

    from goodharts.evaluation.evaluate import Evaluation
    from goodharts.models import Model

_MODELS = Path("models")


def main(argv: Sequence[str] | None = None) -> int:
    """Read or play the evaluations, print the table, write JSON and picture where asked, and return 0.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        UsageError: a file, the configuration or the device cannot be used, or there is nothing to compare.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    _check(parser, args)
    from goodharts.evaluation.picture import draw_comparison
    from goodharts.evaluation.report import as_sentence, comparison

    console = open_console(stderr=args.json == STANDARD_OUTPUT)
    found = written(_read(args.results) if args.results else _played(args, console), args.json)
    console.print(comparison(found))
    for each in found:
        console.print(as_sentence(each), soft_wrap=True)
    if args.picture:
        try:
            draw_comparison(found, args.picture)
        except OSError as error:
            fail(f"cannot write {args.picture}: {error.strerror}.")
    return 0


def _check(parser: Parser, args: Namespace) -> None:
    """Exit with one sentence where something asked for makes no sense, before any work is done."""
    from goodharts.evaluation.picture import FORMATS

    check_output(parser, args.json)
    if args.picture:
        check_output(parser, str(args.picture))
        if args.picture.suffix[1:].lower() not in FORMATS:
            parser.error(f"--picture must end in .{' or .'.join(FORMATS)}, got {str(args.picture)!r}")
    given = [f"--{name}" for name in ("models", *PLAYING) if getattr(args, name) not in (None, False)]
    if args.results and given:
        parser.error(f"files of evaluations are read as they are: leave {given[0]} out, or the files")


def _read(paths: Sequence[Path]) -> list[Evaluation]:
    from goodharts.evaluation.results import read_results

    found = [each for path in paths for each in read_results(path)]
    if not found:
        raise UsageError(f"{paths[0]} holds no evaluation: name files that `goodharts evaluate --json` wrote.")
    return found


def _played(args: Namespace, console: Console) -> Iterable[Evaluation]:
    config, folder = config_of(args), args.models or _MODELS
    return evaluations([*_models_in(folder), None], config, args.deterministic, console)


def _models_in(folder: Path) -> list[Model]:
    """The models of all modes that there are; raises UsageError where one cannot be used, or there is none."""
    from goodharts.models import model_path, read_model

    paths = [path for path in (model_path(mode, folder) for mode in MODES) if path.exists()]
    if not paths:
        train = typed_command("goodharts", "goodharts.cli.main", "train", "--mode", "all")
        raise UsageError(
            f"There is no model in {folder}, such as {model_path(next(iter(MODES)), folder)}: train them with "
            f"`{train}`, or name another --models."
        )
    return [read_model(path) for path in paths]


def _parser() -> Parser:
    parser = Parser(
        prog="goodharts compare",
        description="One table, and one picture, of all modes beside the published ones: of evaluations in JSON files, "
        "or of those models that there are, and of chance, which are evaluated first.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "results", nargs="*", type=Path, metavar="FILE", help="what `goodharts evaluate --json` or this command wrote"
    )
    parser.add_argument("--models", type=Path, metavar="DIR", help=f"the folder of the models (default {_MODELS})")
    add_settings(parser)
    parser.add_argument("--json", metavar="FILE", help=JSON_HELP)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw efficiency and survival (png, svg or pdf)")
    return parser
