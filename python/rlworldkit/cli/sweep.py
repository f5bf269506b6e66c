"""``sweep``: search for settings of the trainer and prices of the reward, with Optuna."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rlparity.errors import INTERRUPTED_EXIT_CODE, ParityError
from rlparity.io.arguments import Parser
from rlparity.io.console import open_console
from rlworldkit.jax.xla import enable_compilation_cache, threads_of_a_share
from rlworldkit.program import Program
from rlworldkit.runs.console import print_line
from rlworldkit.runs.folder import locked, make_folder
from rlworldkit.runs.stop import StopRequest
from rlworldkit.settings import add_flags, given
from rlworldkit.sweep.options import SweepOptions


def main(program: Program, argv: Sequence[str]) -> int:
    """Search, and report; return 1 if no trial has finished, 130 if the search was stopped before one has, else 0.

    Raises ParityError if the sweep cannot be searched, and if trials fail one after the other.
    """
    args = _parser(program).parse_args(argv)
    from rlworldkit.sweep.space import read_sweep  # Optuna takes a while to import

    sweep = read_sweep(program, args.file, given(args, SweepOptions))
    enable_compilation_cache(program.name)
    shares = sweep.at_once * sweep.options.seeds
    os.environ.update(threads_of_a_share(shares))  # before JAX is imported, and for all runs
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    from rlworldkit.cli.trials import Trials
    from rlworldkit.sweep.study import check_objective, open_study, write_report

    check_objective(program, sweep)
    make_folder(sweep.folder, "choose another --folder")
    say = partial(print_line, open_console())
    stop = StopRequest(lambda: say("Stopping; the same command resumes. A second Ctrl-C ends at once."))
    is_running = f"Another sweep is running in {sweep.folder}: let it end, or name another --folder."
    with locked(sweep.folder, "sweep.lock", is_running), stop:
        if sweep.metric is None:
            say("No trial is stopped early: while it trains, its return is in other prices than the game's.")
        study = open_study(program, sweep)
        try:
            Trials(program, sweep, study, stop, say).run()
        except (StorageInternalError, SQLAlchemyError) as error:
            raise ParityError(
                f"The storage has failed ({type(error).__name__}): run the same command again."
            ) from error
    best, lines = write_report(sweep, study)
    for line in lines:
        say(line)
    if not best:
        say(f"No trial has finished{'' if stop.requested else ': give a larger budget'}.")
        return INTERRUPTED_EXIT_CODE if stop.requested else 1
    flags = [word for flag, file in best.items() for word in (flag, file)]
    say(f"Train with the best: {program.typed('train', *flags)}")
    return 0


def _parser(program: Program) -> Parser:
    parser = program.parser(
        "sweep",
        "Search for settings of `train` and prices of the reward with Optuna. A trial is one or more runs. The same "
        "command resumes the sweep, and joins it from another machine that shares its storage.",
        "The file holds these options by name, and two tables, [settings] and [prices]. There a name has one value for "
        "all trials, a list of values to try, or a range such as { low = 1e-4, high = 1e-2, log = true }. Flags "
        "override the file.",
    )
    parser.add_argument("file", type=Path, metavar="FILE", help="TOML file that describes the sweep")
    add_flags(parser, SweepOptions)
    return parser
