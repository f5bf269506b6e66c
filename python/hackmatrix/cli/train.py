"""``hackmatrix train``: train an agent on the JAX engine with masked PPO."""

import argparse
import contextlib
import dataclasses
import functools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hackmatrix.cli.parser import Parser, fail, positive_int
from hackmatrix.cli.runs import fresh_run_name, run_folder, typed_command
from hackmatrix.cli.xla import prefer_wide_vectors
from hackmatrix.errors import HackMatrixError, UsageError
from hackmatrix.purejaxrl.config import TrainConfig, auto_scale_for_batch_size, auto_tune_for_device

INTERRUPTED_EXIT_CODE = 130
FAILED_EXIT_CODE = 1

# Group, flag, field of TrainConfig, type, meaning.
_FLAGS: tuple[tuple[str, str, str, Any, str], ...] = (
    ("environment", "--num-envs", "num_envs", positive_int, "games played in parallel"),
    ("environment", "--num-steps", "num_steps", positive_int, "steps of each game per update"),
    ("environment", "--total-timesteps", "total_timesteps", positive_int, "steps of all games, in whole updates"),
    ("PPO", "--lr", "learning_rate", float, "learning rate (use 6.25e-5 with 2048 games)"),
    ("PPO", "--gamma", "gamma", float, "discount factor"),
    ("PPO", "--gae-lambda", "gae_lambda", float, "GAE lambda"),
    ("PPO", "--num-minibatches", "num_minibatches", positive_int, "minibatches per epoch (scales with the batch)"),
    ("PPO", "--update-epochs", "update_epochs", positive_int, "epochs per update (scales with the batch)"),
    ("PPO", "--clip-eps", "clip_eps", float, "clipping range of the probability ratio and the value"),
    ("PPO", "--vf-coef", "vf_coef", float, "weight of the value loss"),
    ("PPO", "--ent-coef", "ent_coef", float, "weight of the entropy bonus"),
    ("PPO", "--max-grad-norm", "max_grad_norm", float, "gradient norm to clip at"),
    ("network", "--hidden-dim", "hidden_dim", positive_int, "width of a hidden layer"),
    ("network", "--num-layers", "num_layers", positive_int, "number of hidden layers"),
    ("run", "--log-interval", "log_interval", positive_int, "updates per line of metrics"),
    ("run", "--seed", "seed", int, "seed of network, games and shuffling"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 if training failed, 130 if stopped before there were results.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
    """
    given = sys.argv[1:] if argv is None else argv
    arguments = _parser().parse_args(given)
    prefer_wide_vectors()
    try:
        config = _config_of(arguments)
        name = arguments.run_name or fresh_run_name("hackmatrix", config.seed)
        folder = run_folder(arguments.checkpoint_dir, name, "--checkpoint-dir")
        return _train(config, arguments.max_steps, folder, next_command(given, 10 * config.total_timesteps))
    except UsageError as error:
        fail(error)
    except HackMatrixError as error:
        print(error, file=sys.stderr)
        return FAILED_EXIT_CODE


def _parser() -> Parser:
    parser = Parser(
        prog="hackmatrix train", description="Train an agent on the JAX engine with masked PPO.", allow_abbrev=False
    )
    defaults = TrainConfig()
    groups: dict[str, Any] = {}
    for group, flag, field, kind, meaning in _FLAGS:
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        default = getattr(defaults, field)
        shown = f"{default:,}" if isinstance(default, int) else default
        groups[group].add_argument(
            flag, dest=field, type=kind, default=None, metavar="N", help=f"{meaning} (default {shown})"
        )
    groups["environment"].add_argument(
        "--max-steps", type=positive_int, metavar="N", help="truncate episodes after N steps (default never)"
    )
    run = groups["run"]
    run.add_argument("--run-name", metavar="NAME", help="the run's folder (default: made from time and seed)")
    run.add_argument(
        "--checkpoint-dir",
        type=Path,
        default=Path("checkpoints"),
        metavar="DIR",
        help="where the run's folder goes (default checkpoints)",
    )
    run.add_argument("--auto-tune", action="store_true", help="fit games, steps and learning rate to the device")
    run.add_argument("--no-wandb", action="store_true", help="no effect yet: metrics always go to metrics.csv alone")
    return parser


def _config_of(arguments: argparse.Namespace) -> TrainConfig:
    given = {field: getattr(arguments, field) for _, _, field, _, _ in _FLAGS if getattr(arguments, field) is not None}
    config = TrainConfig(**given)
    if arguments.auto_tune:
        config = auto_tune_for_device(config, explicit=given)
    return auto_scale_for_batch_size(config, explicit=given).validated()


def next_command(given: Sequence[str], total_timesteps: int) -> str:
    """The command for a longer run with the same settings under a new name, as it can be typed here."""
    _, kept = _replaced_flags().parse_known_args(given)
    return typed_command("train", *kept, "--total-timesteps", str(total_timesteps))


def _replaced_flags() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=True)
    parser.add_argument("--total-timesteps")
    parser.add_argument("--run-name")
    return parser


def _train(config: TrainConfig, max_steps: int | None, folder: Path, next_run: str) -> int:
    # Imported only now: a mistaken command line should not have to wait for JAX.
    import jax
    from rich.console import Console

    from hackmatrix.purejaxrl import training_loop
    from hackmatrix.purejaxrl.checkpointing import save_params
    from hackmatrix.purejaxrl.env_wrapper import HackMatrixGymnax
    from hackmatrix.purejaxrl.logging import ConsoleProgress, CsvLog, LearningCurve, compiling

    console = Console()
    device = jax.devices()[0]
    say = functools.partial(console.print, soft_wrap=True, highlight=False, markup=False)
    say(
        f"Training {config.num_updates:,} updates of {config.num_envs:,} games x {config.num_steps:,} steps "
        f"({config.update_epochs} epochs of {config.num_minibatches} minibatches) on {device.device_kind}, "
        f"seed {config.seed}."
    )
    settings = {"run_name": folder.name, "max_steps": max_steps, **dataclasses.asdict(config)}
    (folder / "config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")

    training_loop.enable_compilation_cache()
    env = HackMatrixGymnax(max_steps=max_steps)
    curve = LearningCurve()
    with contextlib.ExitStack() as stack:
        progress = ConsoleProgress(config.num_updates * config.batch_size, console)
        stop = stack.enter_context(training_loop.StopRequest(announce=progress.stopping))
        with compiling(console):
            compiled = training_loop.compile_training(config, env)
        say(f"Compiled in {compiled.compile_seconds:.1f} s.")
        table = stack.enter_context(CsvLog(folder / "metrics.csv"))
        stack.enter_context(progress)
        result = training_loop.run_training(compiled, config, env, [progress, table, curve], stop)

    if result.updates == 0:
        say("Stopped before the first update was complete; there is nothing to keep.")
        return INTERRUPTED_EXIT_CODE
    params = folder / f"params_{result.updates}.npz"
    save_params(params, result.params)
    curve.save(folder / "learning_curve.png", f"HackMatrix, masked PPO: {folder.name}")
    say(
        f"Trained {result.timesteps:,} steps in {result.train_seconds:.1f} s "
        f"({result.timesteps / result.train_seconds:,.0f} steps/s), "
        f"after {compiled.compile_seconds:.1f} s of compiling."
    )
    for written in (params, folder / "metrics.csv", folder / "learning_curve.png", folder / "config.json"):
        say(f"  {written}")
    say(f"Next, a run ten times as long: {next_run}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
