"""Compare how many steps exploring and directed runs need to every rule mark of a world, or to its planted faults.

    python studies/exploration.py hackmatrix swift [--faults] [--only NAME ...] [--seeds N] [--seed N]

Prints, for each source, the median over fresh seeds of the transitions in all games, and those of every seed. An engine
with faults is held to itself without them. What a run does not reach counts as twice its length.
"""

import argparse
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from rlparity import EngineError, World
from rlparity.core.lockstep_run import LockstepRun
from rlparity.core.pair import Pair
from rlparity.core.settings import Settings
from rlparity.engines.python_process import python_environment
from rlparity.engines.registry import load_pair
from rlparity.engines.remote import RemoteFactory
from rlparity.errors import ParityError
from rlparity.io.arguments import IntRange, Parser
from rlparity.tools.mutants import chosen_benches, mutated_text

GAMES = 8
MARK_STEPS, FAULT_STEPS = 4000, 400
"""Steps of every game, to fire marks and to find faults."""
SOURCES = "directed", "explore"
SEED_STRIDE = 1000

Play = Callable[[Settings], int]


def main() -> None:
    """Read the command line, measure and print."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("world", help="a registered name or module:attribute")
    parser.add_argument("engine", help="one of its engines")
    parser.add_argument("--faults", action="store_true", help="the planted faults of the engine, not the marks")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="of the faults, these")
    parser.add_argument("--seeds", type=IntRange(1, 1000), default=9, help="runs of each source (default: %(default)s)")
    parser.add_argument("--seed", type=IntRange(0, 2**31), default=5000, help="the first (default: %(default)s)")
    args = parser.parse_args()
    seeds = range(args.seed, args.seed + args.seeds * SEED_STRIDE, SEED_STRIDE)
    try:
        world, _, engines = load_pair(args.world, (args.engine, args.engine))
        if not args.faults:
            show("every mark", partial(steps_to_marks, world, engines), MARK_STEPS, seeds)
            return
        for bench, mutants in chosen_benches(world, args.engine, args.only):
            with tempfile.TemporaryDirectory() as folder:
                ignored = shutil.ignore_patterns(*bench.ignore)
                copy = Path(shutil.copytree(bench.source, Path(folder) / "copy", symlinks=True, ignore=ignored))
                for mutant in mutants:
                    (copy / mutant.file).write_text(mutated_text(bench.source, mutant), encoding="utf-8")
                    if bench.build is not None:
                        bench.build(copy)
                    environment = python_environment(bench.environment(copy)) | {"PYTHONDONTWRITEBYTECODE": "1"}
                    play = partial(steps_to_fault, world, environment, args.world, bench.engine)
                    show(mutant.name, play, FAULT_STEPS, seeds)
                    shutil.copy(bench.source / mutant.file, copy / mutant.file)
    except ParityError as error:
        parser.error(str(error))


def show(what: str, play: Play, steps: int, seeds: range) -> None:
    """Play every seed with both sources and print a line."""
    parts = [what]
    for source in SOURCES:
        taken = sorted(play(Settings(source, steps=steps, games=GAMES, seed=seed)) for seed in seeds)
        parts.append(f"{source} {np.median(taken):,.0f} {taken}")
    print(*parts, sep="; ")


def steps_to_marks(world: World, engines: tuple[str, str], settings: Settings) -> int:
    """Count the transitions until every mark has fired."""
    with Pair(world, engines, settings.games, marks=True, compare_marks=False) as pair:
        run = LockstepRun(pair, settings)

        def end_when_all_fired() -> None:
            if pair.marks()[0].all():
                run.ends_at = 0

        run.play(end_when_all_fired)
        return run.outcome.steps if pair.marks()[0].all() else 2 * run.outcome.steps


def steps_to_fault(world: World, environment: dict[str, str], spec: str, engine: str, settings: Settings) -> int:
    """Count the transitions until the faulty engine, a process with ``environment``, fails or differs."""
    opened = {"right": world.engines[engine], engine: RemoteFactory(world, spec, engine, environment)}
    with Pair(replace(world, engines=opened), ("right", engine), settings.games) as pair:
        run = LockstepRun(pair, settings)
        try:
            run.play(lambda: None)
        except EngineError:
            return run.outcome.steps
        return run.outcome.steps if run.outcome.divergences else 2 * run.outcome.steps


if __name__ == "__main__":
    main()
