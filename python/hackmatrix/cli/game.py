"""HackMatrix as its console command sees it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
    from worldkit.jaxkit.env import JaxEnv


def _train_env() -> JaxEnv:
    from hackmatrix.jax_training import HackMatrixJaxEnv

    return HackMatrixJaxEnv()


def _env() -> EnvSpec:
    from hackmatrix.env_spec import ENV_SPEC

    return ENV_SPEC


def _evaluation() -> EvaluationSpec:
    from hackmatrix.evaluation import EVALUATION

    return EVALUATION


def _watch(argv: list[str], command: str = "watch") -> int:
    from hackmatrix.cli.watch import main

    return main(argv, command=command)


def _play(argv: list[str]) -> int:
    from hackmatrix.cli.play import main

    return main(argv)


def _view(argv: list[str]) -> int:
    from hackmatrix.cli.view import main

    return main(argv)


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
    train_config=TrainConfig,
    milestone=MILESTONE,
    commands={
        "play": Command("play the game in the terminal", _play),
        "watch": Command("watch a trained agent play", _watch),
        "watch-sb3": Command("the same, as it is called for MaskablePPO", partial(_watch, command="watch-sb3")),
        "view": Command("write a page of an agent's games, of a trace or of a run", _view),
        "explain": Command("play a game and say where each of its rewards comes from", _explain),
        "doctor": Command("say what is installed here, what works, and what to do about the rest", _doctor),
    },
    benchmarks={
        "swift": Benchmark("random play in the Swift engine, alone and through its protocol", _bench_swift),
    },
    starts=_starts,
)
