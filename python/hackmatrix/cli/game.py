"""HackMatrix as its console command sees it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hackmatrix import __version__, rules
from hackmatrix.metrics import MILESTONE
from hackmatrix.train_config import TrainConfig
from worldkit.game import Benchmark, Command, Game


def _named(module: str, name: str) -> Any:  # noqa: ANN401 - of the type that its place in ``Game`` has
    """Something in a module that takes a while to import, which mistakes need not wait for."""
    return getattr(import_module(module), name)


GAME: Game = Game(
    name="hackmatrix",
    title="HackMatrix",
    package="hackmatrix",
    module="hackmatrix.cli.main",
    version=__version__,
    rules_version=rules.VERSION,
    train_env=lambda: _named("hackmatrix.jax_training", "HackMatrixJaxEnv")(),
    env=lambda: _named("hackmatrix.env_spec", "ENV_SPEC"),
    evaluation=lambda: _named("hackmatrix.evaluation", "EVALUATION"),
    view=lambda mode, path: _named("hackmatrix.view_spec", "VIEW"),
    train_config=TrainConfig,
    milestone=MILESTONE,
    commands={
        "watch-sb3": Command(
            "watch a trained agent play, as it is called for MaskablePPO",
            lambda argv: _named("worldkit.cli.watch", "main")(GAME, argv, command="watch-sb3"),
        ),
        "explain": Command(
            "play a game and say where each of its rewards comes from",
            lambda argv: _named("hackmatrix.cli.explain", "main")(argv),
        ),
        "doctor": Command(
            "say what is installed here, what works, and what to do about the rest",
            lambda argv: _named("hackmatrix.cli.doctor", "main")(argv),
        ),
    },
    benchmarks={
        "swift": Benchmark(
            "random play in the Swift engine, alone and through its protocol",
            lambda num_envs, repetitions: _named("hackmatrix.bench.swift", "measure")(num_envs, repetitions),
        ),
    },
    starts=lambda: _named("hackmatrix.bench.startup", "STARTS"),
)
