"""Goodharts as its console command sees it."""

from __future__ import annotations

import importlib
from typing import Any

from goodharts import __version__, rules
from goodharts.sb3_config import GoodhartsSB3Config
from worldkit.game import Benchmark, Command, Game

_GAMES = 192
"""Of a documented training run."""


def _named(module: str, name: str) -> Any:  # noqa: ANN401 - of the type that its place in ``Game`` has
    """Something in a module that takes a while to import, which mistakes need not wait for."""
    return getattr(importlib.import_module(f"goodharts.{module}"), name)


def _command(module: str, purpose: str, function: str = "main") -> Command:
    return Command(purpose, lambda argv: _named(f"cli.{module}", function)(argv))


def _benchmark(module: str, purpose: str) -> Benchmark:
    def measure(num_envs: int, repetitions: int) -> Any:  # noqa: ANN401 - as ``Benchmark`` has it
        return _named(f"bench.{module}", "measure")(num_envs, repetitions)

    return Benchmark(purpose, measure, games=_GAMES, needs="torch", plays=False)


GAME = Game(
    name="goodharts",
    title="Goodharts",
    package="hackmatrix",
    extra="goodharts",
    module="goodharts.cli.main",
    version=__version__,
    rules_version=rules.VERSION,
    library="torch",
    env=lambda: _named("env_spec", "ENV_SPECS")[rules.DEFAULT_MODE],
    modes=tuple(rules.MODES),
    view=lambda mode, path: _named("view_spec", "view_of")(mode, path),
    sb3_config=GoodhartsSB3Config,
    sb3_env=lambda config: _named("env_spec", "ENV_SPECS")[config.mode],
    commands={
        "train": _command("train", "train agents of one or more modes with PPO, on the torch engine or in JAX"),
        "evaluate": _command("evaluate", "let trained agents live on, and count what they eat and when they die"),
        "compare": _command("evaluate", "one table and one picture of all modes", "compare"),
        "brain-view": _command("brain_view", "watch a trained agent: what it sees, thinks and does"),
    },
    benchmarks={
        "env": _benchmark("env", "random play in each engine alone"),
        "train": _benchmark(
            "train", "PPO with each engine and network, beside the same on an environment that does nothing"
        ),
    },
)
