"""The console command ``goodharts``: ``PROGRAM``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from pkgutil import resolve_name

from goodharts import __version__
from goodharts.sb3_config import GoodhartsSB3Config
from goodharts.world import WORLDS
from rlparity import World
from rlworldkit.cli import app
from rlworldkit.program import Benchmark, Command, Program, measured_by

_GAMES = 192
"""Of a documented training run."""


def _command(module: str, purpose: str, function: str = "main") -> Command:
    return Command(purpose, lambda argv: resolve_name(f"goodharts.{module}:{function}")(argv))


def _benchmark(world: World, module: str, purpose: str) -> Benchmark:
    measure = measured_by(f"goodharts.bench.{module}", world)
    return Benchmark(purpose, measure, games=_GAMES, needs="torch", plays=False)


def _mode_of(path: Path, wanted: str | None) -> str | None:
    mode: str | None = resolve_name("goodharts.show:mode_of")(path, wanted)
    return mode


PROGRAM = Program(
    worlds=tuple(WORLDS.values()),
    name="goodharts",
    module="goodharts.cli.main",
    version=__version__,
    library="torch",
    sb3_config=GoodhartsSB3Config,
    mode_of=_mode_of,
    commands={
        "train": _command(
            "training.train_ppo", "train agents of one or more modes with PPO, on the torch engine or in JAX", "train"
        ),
        "evaluate": _command("cli.evaluate", "let trained agents live on, and count what they eat and when they die"),
        "compare": _command("cli.evaluate", "one table and one picture of all modes", "compare"),
        "config": _command("cli.config", "print every setting and its default, as config.toml has them"),
        "brain-view": _command("cli.brain_view", "watch a trained agent: what it sees, thinks and does"),
    },
    benchmarks=lambda world: {
        "env": _benchmark(world, "env", "random play in each engine alone"),
        "train": _benchmark(
            world, "train", "PPO with each engine and network, beside the same on an environment that does nothing"
        ),
    },
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand, by default the process's own, and return its exit code; see `rlworldkit.cli.app`."""
    return app.main(PROGRAM, argv)


if __name__ == "__main__":
    sys.exit(main())
