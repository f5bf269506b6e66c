"""The console command ``goodharts``: ``PROGRAM``."""

import sys
from collections.abc import Sequence
from pkgutil import resolve_name

from goodharts import __version__
from goodharts.config import as_toml
from goodharts.world import WORLDS
from rlparity import World
from rlparity.io.arguments import Parser
from rlworldkit.cli import app
from rlworldkit.program import Benchmark, Command, Program

_GAMES = 192
"""Games of a documented training run."""


def _command(module: str, purpose: str, function: str = "main") -> Command:
    return Command(purpose, lambda argv: resolve_name(f"goodharts.{module}:{function}")(argv))


def _benchmark(world: World, name: str, purpose: str) -> Benchmark:
    measure = lambda *sizes: resolve_name(f"goodharts.bench:measure_{name}")(world, *sizes)  # noqa: E731
    return Benchmark(purpose, measure, games=_GAMES, needs="torch", plays=False)


def _print_config(argv: Sequence[str]) -> int:
    text = "Print every setting and its default as TOML. A config.toml in the working directory needs only those that "
    Parser(prog="goodharts config", description=f"{text}you change.", allow_abbrev=False).parse_args(argv)
    print(as_toml(), end="")
    return 0


PROGRAM: Program = Program(
    worlds=tuple(WORLDS.values()),
    name="goodharts",
    module="goodharts.cli.main",
    version=__version__,
    library="torch",
    mode_of=lambda path, wanted: resolve_name("goodharts.show:mode_of")(path, wanted),
    commands={
        "train": _command(
            "training.train_ppo", "train agents of one or more modes with PPO, on the torch engine or in JAX", "train"
        ),
        "evaluate": _command("cli.evaluate", "evaluate trained agents: what they eat and how long they live"),
        "compare": _command("cli.evaluate", "compare all modes in one table and one picture", "compare"),
        "config": Command("print every setting and its default, as TOML", _print_config),
        "brain-view": Command(
            "watch a trained agent: what it sees, thinks and does",
            lambda argv: resolve_name("rlworldkit.cli.watch:main")(
                PROGRAM,
                argv,
                command="brain-view",
                following=lambda *agents: resolve_name("goodharts.models:in_evaluation")(*agents),
            ),
        ),
    },
    benchmarks=lambda world: {
        "env": _benchmark(world, "env", "random play in each engine alone"),
        "train": _benchmark(world, "train", "PPO with each engine and network"),
    },
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand, by default the process's own, and return its exit code; see `rlworldkit.cli.app`."""
    return app.main(PROGRAM, argv)


if __name__ == "__main__":
    sys.exit(main())
