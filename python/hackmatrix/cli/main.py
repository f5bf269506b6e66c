"""The console command ``hackmatrix``."""

import sys
from collections.abc import Sequence

from hackmatrix.cli.game import GAME
from rlworldkit.cli import app


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand, by default the process's own, and return its exit code; see `rlworldkit.cli.app`."""
    return app.main(GAME, argv)


if __name__ == "__main__":
    sys.exit(main())
