"""``hackmatrix train-sb3``: train an agent on the Swift engine with MaskablePPO of Stable-Baselines3."""

import dataclasses
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from rich.console import Console

from hackmatrix.cli.parser import Parser, positive_int
from hackmatrix.cli.runs import new_run_folder, run_folder, typed_command
from hackmatrix.games.engines import ENGINES
from hackmatrix.training_config import TrainingConfig
from parity.errors import UsageError

NEEDED = ("stable_baselines3", "sb3_contrib", "gymnasium")


def main(argv: Sequence[str] | None = None) -> int:
    """Train and return the exit code.

    Raises:
        SystemExit: code 2 with one sentence on standard error where the command line is wrong.
        UsageError: the model to resume or the folder cannot be used.
        SwiftEngineError: the engine is not built, or fails.
    """
    parser = _parser()
    args = parser.parse_args(argv)
    require_sb3()
    given = {field.name: getattr(args, field.name, None) for field in dataclasses.fields(TrainingConfig)}
    config = TrainingConfig(**{name: value for name, value in given.items() if value is not None})
    folder = _folder(args.resume, args.models_dir, args.run_name, config)

    # Imported only now: a mistaken command line should not have to wait for torch.
    from hackmatrix.sb3.training import Tracking, train

    console = Console()
    console.print(
        f"Training MaskablePPO for {config.timesteps:,} steps in {config.num_envs} games of the {args.engine} engine, "
        f"seed {config.seed}, into {folder}.",
        soft_wrap=True,
        highlight=False,
    )
    tracking = Tracking(args.project, args.entity, is_wanted=not args.no_wandb)
    outcome = train(
        config,
        folder,
        resume=args.resume,
        device=args.device,
        engine=args.engine,
        tracking=tracking,
        console=console,
    )
    best = folder / "best_model.zip"
    lines = [f"{'Stopped' if outcome.was_interrupted else 'Done'} after {outcome.timesteps:,} steps. Written:"]
    lines += [f"  {path}" for path in (outcome.model, best, folder / "learning_curve.png") if path.exists()]
    watched = best if best.exists() else outcome.model
    lines.append(f"Watch it play: {typed_command('watch-sb3', '--model', str(watched))}")
    if outcome.was_interrupted:
        again = ("--resume", str(outcome.model), "--timesteps", str(config.timesteps))
        lines.append(f"Go on: {typed_command('train-sb3', *again)}")
    lines.append(f"Compare runs: tensorboard --logdir {args.models_dir}")
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    return 0


def require_sb3() -> None:
    """Raises UsageError where Stable-Baselines3 is not installed."""
    if any(find_spec(name) is None for name in NEEDED):
        raise UsageError('This command needs Stable-Baselines3: run `pip install "hackmatrix[sb3]"`.')


def _folder(resume: Path | None, models_dir: Path, run_name: str | None, config: TrainingConfig) -> Path:
    """A new run's folder, or the one of the model to resume."""
    if resume is None:
        if run_name:
            return run_folder(models_dir, run_name, "--models-dir")
        return new_run_folder(models_dir, "sb3", config.seed, "", "--models-dir")
    if not resume.exists():
        raise UsageError(f"There is no model {resume}: name a .zip file that training wrote.")
    if run_name is not None:
        raise UsageError("--run-name does not go with --resume: the run goes on in the folder of its model.")
    return resume.parent


def _kind(default: float) -> Callable[[str], float]:
    return positive_int if isinstance(default, int) else float


def _parser() -> Parser:
    defaults = TrainingConfig()
    parser = Parser(
        prog="hackmatrix train-sb3",
        description="Train an agent on the Swift engine with MaskablePPO of Stable-Baselines3.",
        epilog="Ctrl+C saves and says how to go on. hackmatrix/training_config.py holds the defaults.",
        allow_abbrev=False,
    )
    numbers = (
        ("--timesteps", "timesteps", "steps of all games, those before --resume included"),
        ("--num-envs", "num_envs", "games played side by side"),
        ("--save-freq", "save_freq", "steps between checkpoints"),
        ("--eval-freq", "eval_freq", "steps between evaluations"),
        ("--eval-episodes", "eval_episodes", "episodes of an evaluation"),
    )
    for flag, name, meaning in numbers:
        default = f"{getattr(defaults, name):,}"
        parser.add_argument(flag, dest=name, type=positive_int, metavar="N", help=f"{meaning} (default {default})")
    settings = parser.add_argument_group("settings of MaskablePPO")
    for name, default in defaults.ppo().items():
        if name != "seed":
            flag = f"--{name.replace('_', '-')}"
            settings.add_argument(flag, type=_kind(default), metavar="N", help=f"(default {default})")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of network and games (default 0)")
    parser.add_argument("--resume", type=Path, metavar="ZIP", help="a model to go on with, in its folder")
    parser.add_argument("--device", default="auto", help="torch's device: auto, cpu, cuda, mps (default auto)")
    parser.add_argument("--engine", choices=ENGINES, default="swift", help="(default swift)")
    parser.add_argument(
        "--models-dir", type=Path, default=Path("models"), metavar="DIR", help="where runs go (default models)"
    )
    parser.add_argument("--run-name", metavar="NAME", help="the run's folder (default: made from time and seed)")
    parser.add_argument("--no-wandb", action="store_true", help="leave W&B out")
    parser.add_argument("--project", default="hackmatrix", help="W&B project (default hackmatrix)")
    parser.add_argument("--entity", help="W&B entity (default: the account's own)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
