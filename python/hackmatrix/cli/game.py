"""HackMatrix as its console command sees it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hackmatrix import __version__, rules
from hackmatrix.metrics import MILESTONE
from hackmatrix.train_config import TrainConfig
from worldkit.game import Benchmark, Command, Game

if TYPE_CHECKING:
    from worldkit.bench.records import Record
    from worldkit.bench.startup import Start
    from worldkit.envs.spec import EnvSpec
    from worldkit.evaluation.spec import EvaluationSpec
    from worldkit.jax.env import JaxEnv
    from worldkit.watch.spec import ViewSpec


def _train_env() -> JaxEnv:
    from hackmatrix.jax_training import HackMatrixJaxEnv

    return HackMatrixJaxEnv()


def _env() -> EnvSpec:
    from hackmatrix.env_spec import ENV_SPEC

    return ENV_SPEC


def _evaluation() -> EvaluationSpec:
    from hackmatrix.evaluation import EVALUATION

    return EVALUATION


def _view(mode: str | None, path: Path | None) -> ViewSpec:
    from hackmatrix.view_spec import VIEW

    return VIEW


def _watch_sb3(argv: list[str]) -> int:
    from worldkit.cli.watch import main

    return main(GAME, argv, command="watch-sb3")


def _explain(argv: list[str]) -> int:
    from hackmatrix.cli.explain import main

    return main(argv)


def _doctor(argv: list[str]) -> int:
    from hackmatrix.cli.doctor import main

    return main(argv)


def _bench_swift(num_envs: int, repetitions: int) -> list[Record]:
    from hackmatrix.bench.swift import measure

    return measure(num_envs, repetitions)


def _starts() -> Sequence[Start]:
    from hackmatrix.bench.startup import STARTS

    return STARTS


GAME = Game(
    name="hackmatrix",
    title="HackMatrix",
    package="hackmatrix",
    module="hackmatrix.cli.main",
    version=__version__,
    rules_version=rules.VERSION,
    train_env=_train_env,
    env=_env,
    evaluation=_evaluation,
    view=_view,
    train_config=TrainConfig,
    milestone=MILESTONE,
    commands={
        "watch-sb3": Command("watch a trained agent play, as it is called for MaskablePPO", _watch_sb3),
        "explain": Command("play a game and say where each of its rewards comes from", _explain),
        "doctor": Command("say what is installed here, what works, and what to do about the rest", _doctor),
    },
    benchmarks={
        "swift": Benchmark("random play in the Swift engine, alone and through its protocol", _bench_swift),
    },
    starts=_starts,
)
