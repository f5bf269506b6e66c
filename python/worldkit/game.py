"""A world as its console command sees it: ``Game``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from worldkit.purejaxrl.config import TrainConfig
from worldkit.runs.milestone import Milestone
from worldkit.sb3.config import MaskablePPOConfig

if TYPE_CHECKING:
    from worldkit.bench.records import Record
    from worldkit.envs.spec import EnvSpec
    from worldkit.evaluation.spec import EvaluationSpec
    from worldkit.purejaxrl.train_env import TrainEnv


@dataclass(frozen=True)
class Command:
    """One word of the console command: what it is for, and ``main(argv) -> exit code``, imported when called."""

    purpose: str
    main: Callable[[list[str]], int]


@dataclass(frozen=True)
class Benchmark:
    """Something to measure: what it is, and ``measure(num_envs, repetitions)``, imported when called.

    games: how many games it plays unless told otherwise. needs: a package that must be installed.
    plays: whether it plays on the world's first engine, which may not be built.
    """

    purpose: str
    measure: Callable[[int, int], list[Record]]
    games: int = 256
    needs: str | None = None
    plays: bool = True


@dataclass(frozen=True)
class Game:
    """What the console command of a world is made of.

    Functions open what is heavy to import, so that ``--help`` and mistakes need not wait for it.

    name: of the command, of run folders and of the W&B project. title: in pictures.
    package: what pip calls it; its extra ``sb3`` has Gymnasium and Stable-Baselines3.
    module: ``python -m module`` is the command. version, rules_version: what ``version`` prints.
    train_env: the world as the trainer in JAX sees it. train_config: its settings, with the world's defaults.
    env: the world as environments show it.
    evaluation: who plays, and what is said of it.
    milestone: what people follow in a run besides the return.
    commands, benchmarks: the world's own, beside the kit's.
    """

    name: str
    title: str
    package: str
    module: str
    version: str
    rules_version: str
    train_env: Callable[[], TrainEnv]
    env: Callable[[], EnvSpec]
    evaluation: Callable[[], EvaluationSpec]
    train_config: type[TrainConfig] = TrainConfig
    sb3_config: type[MaskablePPOConfig] = MaskablePPOConfig
    milestone: Milestone | None = None
    commands: Mapping[str, Command] = field(default_factory=dict)
    benchmarks: Mapping[str, Benchmark] = field(default_factory=dict)
