"""HackMatrix as its console command sees it."""

from hackmatrix import __version__, rules
from hackmatrix.metrics import MILESTONE
from hackmatrix.train_config import TrainConfig
from rlworldkit.game import Benchmark, Command, Game, import_attribute, measured_by

GAME: Game = Game(
    name="hackmatrix",
    title="HackMatrix",
    module="hackmatrix.cli.main",
    version=__version__,
    rules_version=rules.VERSION,
    train_env=lambda: import_attribute("hackmatrix.jax_training", "HackMatrixJaxEnv")(),
    env=lambda: import_attribute("hackmatrix.env_spec", "ENV_SPEC"),
    evaluation=lambda: import_attribute("hackmatrix.evaluation", "EVALUATION"),
    view=lambda mode, path: import_attribute("hackmatrix.view_spec", "VIEW"),
    train_config=TrainConfig,
    milestone=MILESTONE,
    commands={
        "watch-sb3": Command(
            "watch a trained agent play, as it is called for MaskablePPO",
            lambda argv: import_attribute("rlworldkit.cli.watch", "main")(GAME, argv, command="watch-sb3"),
        ),
        "explain": Command(
            "play a game and say where each of its rewards comes from",
            lambda argv: import_attribute("hackmatrix.cli.explain", "main")(argv),
        ),
        "doctor": Command(
            "say what is installed here, what works, and what to do about the rest",
            lambda argv: import_attribute("hackmatrix.cli.doctor", "main")(argv),
        ),
    },
    benchmarks=lambda game: {
        "swift": Benchmark(
            "random play in the Swift engine, alone and through its protocol",
            measured_by("hackmatrix.bench.swift", lambda: game.env().world),
        ),
    },
    starts=lambda: import_attribute("hackmatrix.bench.startup", "STARTS"),
)
