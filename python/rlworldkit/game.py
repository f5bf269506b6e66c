"""A world as its console command sees it: ``Game``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rlparity.core.prices import price_values, with_prices
from rlparity.engines.registry import load_registered
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.runs.sinks import Milestone
from rlworldkit.sb3.config import MaskablePPOConfig

if TYPE_CHECKING:
    from rlworldkit.bench.records import Record
    from rlworldkit.bench.startup import Start
    from rlworldkit.envs.spec import EnvSpec
    from rlworldkit.evaluation.spec import EvaluationSpec
    from rlworldkit.jax.env import JaxEnv
    from rlworldkit.watch.spec import ViewSpec

GROUP = "rlworldkit.games"
"""The group of the entry points by which games are registered."""


def import_attribute(module: str, name: str) -> Any:  # noqa: ANN401 - of the type that its place in ``Game`` has
    """An attribute of a module that takes a while to import, which a mistaken command line need not wait for."""
    return getattr(importlib.import_module(module), name)


def measured_by(module: str, *given: Callable[[], Any]) -> Callable[[int, int], Iterable[Record]]:
    """The function ``measure`` of a module, imported when called, with what ``given`` return before its arguments."""
    return lambda num_envs, repetitions: import_attribute(module, "measure")(
        *(each() for each in given), num_envs, repetitions
    )


@dataclass(frozen=True)
class Command:
    """One word of the console command: what it is for, and ``main(argv) -> exit code``, imported when called."""

    purpose: str
    main: Callable[[list[str]], int]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark: its purpose, and ``measure(num_envs, repetitions)``, imported when called.

    Records may come from an iterator, each as soon as it is measured.
    games: how many games it plays unless told otherwise. needs: a package that must be installed.
    plays: whether it plays on the world's first engine, which may not be built.
    """

    purpose: str
    measure: Callable[[int, int], Iterable[Record]]
    games: int = 256
    needs: str | None = None
    plays: bool = True


@dataclass(frozen=True)
class Game:
    """A world as its console command sees it.

    Functions open what is heavy to import, so that ``--help`` and mistakes need not wait for it.

    name: of the command, of run folders and of the W&B project. title: in pictures. module: ``python -m module`` is
    the command.
    library: what its engine computes with, as pip calls it; ``version`` prints its version too.
    train_env: the world as the trainer in JAX sees it; None: it has no engine in JAX, and nothing that needs one.
    evaluation: who plays, and the endings and figures to report; None: rlworldkit does not evaluate it.
    modes: names of the world's modes, chosen with ``--mode``; none: there is but one.
    view: the world as people watch, play and view it, in a mode (None: the first, or that of the file) and for the
        agent's file or trace that is to be shown, where one is named; raises UsageError where these do not fit each
        other. None: it is not shown.
    sb3_env: the world as ``sb3_config`` would have it; None: as ``env`` has it.
    commands, benchmarks: the world's own, beside rlworldkit's or in their place; benchmarks at a game's prices.
    starts: commands whose start is measured, beside those of rlworldkit; they may play on the world's first engine.
    """

    name: str
    title: str
    module: str
    version: str
    rules_version: str
    env: Callable[[], EnvSpec]
    library: str = "jax"
    train_env: Callable[[], JaxEnv] | None = None
    train_config: type[TrainConfig] = TrainConfig
    evaluation: Callable[[], EvaluationSpec] | None = None
    modes: tuple[str, ...] = ()
    view: Callable[[str | None, Path | None], ViewSpec] | None = None
    sb3_config: type[MaskablePPOConfig] = MaskablePPOConfig
    sb3_env: Callable[[Any], EnvSpec] | None = None
    milestone: Milestone | None = None
    commands: Mapping[str, Command] = field(default_factory=dict)
    benchmarks: Callable[[Game], Mapping[str, Benchmark]] = lambda game: {}
    starts: Callable[[], Sequence[Start]] = tuple

    def with_prices(self, prices: Mapping[str, object]) -> Game:
        """The same with some prices of the reward changed, by name, in all that it opens.

        The world's own commands stay as they are. Opening raises UsageError for a wrong name or value.
        """
        if not prices:
            return self
        env, train_env, evaluation, view, sb3_env = self.env, self.train_env, self.evaluation, self.view, self.sb3_env

        def evaluated(spec: EvaluationSpec) -> EvaluationSpec:
            return replace(spec, env=spec.env.with_prices(prices))

        def viewed(spec: ViewSpec) -> ViewSpec:
            return replace(spec, evaluation=evaluated(spec.evaluation))

        def trained(unpriced: JaxEnv) -> JaxEnv:
            return unpriced.with_prices(np.array(price_values(with_prices(env().world, prices)), np.int32))

        return replace(
            self,
            env=lambda: env().with_prices(prices),
            train_env=train_env and (lambda: trained(train_env())),
            evaluation=evaluation and (lambda: evaluated(evaluation())),
            view=view and (lambda mode, path: viewed(view(mode, path))),
            sb3_env=sb3_env and (lambda config: sb3_env(config).with_prices(prices)),
        )


def load_game(world: str | Game) -> Game:
    """The game that is registered by this name, or that ``module:attribute`` is, or itself.

    Raises UsageError when there is none or it cannot be imported.
    """
    return world if isinstance(world, Game) else load_registered(world, Game, GROUP)
