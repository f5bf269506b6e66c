"""Goodharts as its console command sees it."""

from goodharts import __version__, rules
from goodharts.sb3_config import GoodhartsSB3Config
from rlworldkit.game import Benchmark, Command, Game, import_attribute, measured_by

_GAMES = 192
"""Of a documented training run."""


def _command(module: str, purpose: str, function: str = "main") -> Command:
    return Command(purpose, lambda argv: import_attribute(f"goodharts.{module}", function)(argv))


def _benchmark(game: Game, module: str, purpose: str) -> Benchmark:
    measure = measured_by(f"goodharts.bench.{module}", lambda: game.env().world)
    return Benchmark(purpose, measure, games=_GAMES, needs="torch", plays=False)


GAME = Game(
    name="goodharts",
    title="Goodharts",
    module="goodharts.cli.main",
    version=__version__,
    rules_version=rules.VERSION,
    library="torch",
    env=lambda: import_attribute("goodharts.env_spec", "ENV_SPECS")[rules.DEFAULT_MODE],
    modes=tuple(rules.MODES),
    view=lambda mode, path: import_attribute("goodharts.view_spec", "view_of")(mode, path),
    sb3_config=GoodhartsSB3Config,
    sb3_env=lambda config: import_attribute("goodharts.env_spec", "ENV_SPECS")[config.mode],
    commands={
        "train": _command(
            "training.train_ppo", "train agents of one or more modes with PPO, on the torch engine or in JAX"
        ),
        "evaluate": _command("cli.evaluate", "let trained agents live on, and count what they eat and when they die"),
        "compare": _command("cli.evaluate", "one table and one picture of all modes", "compare"),
        "config": _command("cli.config", "print every setting and its default, as config.toml has them"),
        "brain-view": _command("cli.brain_view", "watch a trained agent: what it sees, thinks and does"),
    },
    benchmarks=lambda game: {
        "env": _benchmark(game, "env", "random play in each engine alone"),
        "train": _benchmark(
            game, "train", "PPO with each engine and network, beside the same on an environment that does nothing"
        ),
    },
)
