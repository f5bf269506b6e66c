"""Goodharts as its console command sees it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from goodharts import __version__, rules
from goodharts.sb3_config import GoodhartsSB3Config
from worldkit.game import Benchmark, Command, Game

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from worldkit.bench.records import Record
    from worldkit.envs.spec import EnvSpec
    from worldkit.watch.spec import ViewSpec

_PACKAGE, _EXTRA = "hackmatrix", "goodharts"


def _command(name: str, purpose: str) -> Command:
    """A command whose module, named after it, is imported when it is called."""

    def main(argv: list[str]) -> int:
        exit_code: int = importlib.import_module(f"goodharts.cli.{name.replace('-', '_')}").main(argv)
        return exit_code

    return Command(purpose, main)


def _env() -> EnvSpec:
    from goodharts.env_spec import ENV_SPECS

    return ENV_SPECS[rules.DEFAULT_MODE]


def _view(mode: str | None, path: Path | None) -> ViewSpec:
    from goodharts.view_spec import view_of

    return view_of(mode, path)


def _sb3_env(config: GoodhartsSB3Config) -> EnvSpec:
    from goodharts.env_spec import ENV_SPECS

    return ENV_SPECS[config.mode]


def _bench_env(num_envs: int, repetitions: int) -> Iterator[Record]:
    from goodharts.bench.env import measure

    return measure(num_envs, repetitions)


def _bench_train(num_envs: int, repetitions: int) -> Iterator[Record]:
    from goodharts.bench.train import measure

    return measure(num_envs, repetitions)


_GAMES = 192
"""Of a documented training run."""

GAME = Game(
    name="goodharts",
    title="Goodharts",
    package=_PACKAGE,
    extra=_EXTRA,
    module="goodharts.cli.main",
    version=__version__,
    rules_version=rules.VERSION,
    library="torch",
    env=_env,
    modes=tuple(rules.MODES),
    view=_view,
    sb3_config=GoodhartsSB3Config,
    sb3_env=_sb3_env,
    commands={
        name: _command(name, purpose)
        for name, purpose in {
            "train": "train agents of one or more modes with PPO, on the torch engine or in JAX",
            "evaluate": "let trained agents live on, and count what they eat and when they die",
            "compare": "one table and one picture of all modes",
            "brain-view": "watch a trained agent: what it sees, thinks and does",
        }.items()
    },
    benchmarks={
        "env": Benchmark("random play in each engine alone", _bench_env, games=_GAMES, needs="torch", plays=False),
        "train": Benchmark(
            "PPO with each engine and network, beside the same on an environment that does nothing",
            _bench_train,
            games=_GAMES,
            needs="torch",
            plays=False,
        ),
    },
)
