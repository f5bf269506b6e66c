"""``hackmatrix bench``: measure, show a table, and write the figures as JSON where asked."""

import importlib
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from hackmatrix.bench.records import Record, as_json, as_table
from hackmatrix.cli.parser import Parser, could_write, positive_int
from hackmatrix.cli.xla import prefer_wide_vectors
from hackmatrix.swift_env.process import SwiftEngineError, binary_path
from hackmatrix.training_config import TrainingConfig

# Each names a module of hackmatrix.bench with a function measure(num_envs, repetitions) -> list[Record].
BENCHMARKS = {
    "env": "random play in the environment alone",
    "train": "whole PPO updates",
    "swift": "random play in the Swift engine, alone and through its protocol",
    "gym": "random play in the Gymnasium environments on the Swift engine",
    "sb3": "MaskablePPO on the Swift engine, beside one on an environment that does nothing",
    "lockstep": "both engines in lockstep, everything compared",
    "startup": "from process start to the first update, with a cold and a warm compilation cache",
}
_OF_SWIFT = ("swift", "gym", "sb3", "lockstep")
_NEEDED = {"gym": "gymnasium", "sb3": "sb3_contrib"}
_GAMES = {"sb3": TrainingConfig().num_envs}
DEFAULT_GAMES = 256
STANDARD_OUTPUT = "-"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmarks named in ``argv`` (all where none is named) and return the exit code.

    Raises:
        SystemExit: code 2 with one sentence on standard error where an argument is wrong or the JSON file
            cannot be written, before anything is measured.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    for name in args.benchmarks:
        if name not in BENCHMARKS:
            parser.error(f"unknown benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
        if not _is_installed(name):
            parser.error(f'{name} needs {_NEEDED[name]}: run `pip install "hackmatrix[sb3]"`')
    if args.json not in (None, STANDARD_OUTPUT) and not could_write(Path(args.json)):
        parser.error(f"cannot write {args.json}: name a file in a folder that exists and can be written to")
    prefer_wide_vectors()
    # The JSON may go to standard output, and then nothing else may.
    console = Console(stderr=True)
    records: list[Record] = []
    for name in args.benchmarks or _possible(console):
        for num_envs in args.num_envs or [_GAMES.get(name, DEFAULT_GAMES)]:
            console.print(f"measuring {name} with {num_envs:,} games ...")
            records += importlib.import_module(f"hackmatrix.bench.{name}").measure(num_envs, args.repetitions)
    if args.json == STANDARD_OUTPUT:
        sys.stdout.write(as_json(records))
        console.print(as_table(records))
        return 0
    if args.json:
        Path(args.json).write_text(as_json(records), encoding="utf-8")
    Console().print(as_table(records))
    return 0


def _possible(console: Console) -> list[str]:
    """All benchmarks, without those whose library is not installed or whose engine is not built."""
    names = [name for name in BENCHMARKS if _is_installed(name)]
    if len(names) < len(BENCHMARKS):
        missing = " and ".join(name for name in BENCHMARKS if name not in names)
        console.print(f'leaving out {missing}: `pip install "hackmatrix[sb3]"`')
    try:
        binary_path()
    except SwiftEngineError as error:
        console.print(f"leaving out {', '.join(_OF_SWIFT)}: {error}")
        names = [name for name in names if name not in _OF_SWIFT]
    return names


def _is_installed(name: str) -> bool:
    return name not in _NEEDED or find_spec(_NEEDED[name]) is not None


def _parser() -> Parser:
    parser = Parser(prog="hackmatrix bench", description="Measure speed, compile time and memory on this machine.")
    described = "; ".join(f"{name}: {purpose}" for name, purpose in BENCHMARKS.items())
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=f"{described} (default: all)")
    parser.add_argument(
        "--num-envs",
        type=_counts,
        metavar="N[,N...]",
        help="games played at the same time, one measurement for each number "
        f"(default: {DEFAULT_GAMES}, of sb3 {_GAMES['sb3']})",
    )
    parser.add_argument("--repetitions", type=positive_int, default=5, help="samples per figure (default: 5)")
    parser.add_argument("--json", metavar="FILE", help="write the records as JSON; - is standard output")
    return parser


def _counts(text: str) -> list[int]:
    return [positive_int(count) for count in text.split(",")]
