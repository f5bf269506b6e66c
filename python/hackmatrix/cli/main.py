"""The console command ``hackmatrix``: ``PROGRAM``."""

import sys
from collections.abc import Sequence
from pkgutil import resolve_name

from hackmatrix import __version__
from hackmatrix.world import WORLD
from rlworldkit.cli import app
from rlworldkit.program import Benchmark, Command, Program, measured_by

PROGRAM: Program = Program(
    worlds=(WORLD,),
    module="hackmatrix.cli.main",
    version=__version__,
    commands={
        "watch-sb3": Command(
            "the same as watch, for models of MaskablePPO",
            lambda argv: resolve_name("rlworldkit.cli.watch:main")(PROGRAM, argv, command="watch-sb3"),
        ),
        "explain": Command(
            "play a game and show where each reward comes from",
            lambda argv: resolve_name("hackmatrix.cli.explain:main")(argv),
        ),
        "doctor": Command(
            "check the installation and suggest fixes",
            lambda argv: resolve_name("hackmatrix.cli.doctor:main")(argv),
        ),
    },
    benchmarks=lambda world: {
        "swift": Benchmark(
            "random play in the Swift engine, alone and through its protocol",
            measured_by("hackmatrix.bench", world),
        ),
    },
    starts=lambda: resolve_name("hackmatrix.bench:STARTS"),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand, by default the process's own, and return its exit code; see `rlworldkit.cli.app`."""
    return app.main(PROGRAM, argv)


if __name__ == "__main__":
    sys.exit(main())
