"""``sweep``: search for settings of the trainer and prices of the reward, with Optuna."""

import os
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from parity.arguments import Parser
from parity.console import open_console, typed_command
from parity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError, install_command
from rlworldkit.game import Game
from rlworldkit.jax.xla import available_cores, enable_compilation_cache, threads_of_a_share
from rlworldkit.runs.console import print_line
from rlworldkit.runs.folder import make_folder
from rlworldkit.runs.lock import locked
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import add_flags, check_settings, given
from rlworldkit.sweep.options import SweepOptions

_LOCK = "sweep.lock"


def main(game: Game, argv: Sequence[str]) -> int:
    """Search, and report; return 1 where no trial has finished, 130 where it was stopped before one has, else 0.

    Raises ParityError for what cannot be searched, and where trials fail one after the other.
    """
    args = _parser(game).parse_args(argv)
    if find_spec("optuna") is None:
        raise UsageError(f"This command needs optuna: run `{install_command(f'{game.package}[sweep]')}`.")
    from rlworldkit.sweep.space import read_sweep  # Optuna takes a while to import

    sweep = read_sweep(game, args.file, given(args, SweepOptions))
    check_settings(sweep.options)
    folder = sweep.options.folder or Path("sweeps", args.file.stem)
    at_once = sweep.options.at_once or max(1, available_cores() // sweep.options.seeds)
    enable_compilation_cache(game.name)
    os.environ.update(threads_of_a_share(at_once * sweep.options.seeds))  # before JAX is imported, and for all runs
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    from rlworldkit.cli.trials import Trials
    from rlworldkit.sweep.objective import check_objective
    from rlworldkit.sweep.report import write_report
    from rlworldkit.sweep.study import have_finished, open_study

    check_objective(game, sweep)
    make_folder(folder, "choose another --folder")
    console = open_console()
    say = partial(print_line, console)
    stop = StopRequest(lambda: say("Stopping; the same command goes on. A second Ctrl-C ends at once."))
    with locked(folder, _LOCK, f"Another sweep is running in {folder}: let it end, or name another --folder."), stop:
        if sweep.metric is None:
            say("No trial is given up before its end: while it trains its return is in other prices than the game's.")
        study = open_study(game, sweep, args.file.stem, folder / "study.db")
        try:
            Trials(game, sweep, study, folder, at_once, lambda: stop.requested, say).run()
        except (StorageInternalError, SQLAlchemyError) as error:
            raise ParityError(f"The storage has failed ({type(error).__name__}): the same command goes on.") from error
    if not have_finished(study):
        say(f"No trial has finished{'' if stop.requested else ': give a larger budget'}.")
        return INTERRUPTED_EXIT_CODE if stop.requested else 1
    best, lines = write_report(sweep, study, folder)
    for line in lines:
        say(line)
    flags = [word for flag, file in best.items() for word in (flag, file)]
    say(f"Train with the best: {typed_command(game.name, game.module, 'train', *flags)}")
    return 0


def _parser(game: Game) -> Parser:
    parser = Parser(
        prog=f"{game.name} sweep",
        description="Search for settings of `train` and for prices of the reward with Optuna, trial by trial, each one "
        "or more runs. The same command goes on where a sweep has ended, and on other machines with its storage.",
        epilog="The file has these options by their names, and the tables [settings] and [prices], in which a name has "
        "a value for all trials, a list of values, or a range such as { low = 1e-4, high = 1e-2, log = true }. Flags "
        "go over the file.",
        allow_abbrev=False,
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="a TOML file that describes the sweep")
    add_flags(parser, SweepOptions)
    return parser
