"""``train-sb3``: train an agent on a world's engine with MaskablePPO of Stable-Baselines3."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rlparity.core.prices import add_price_flags, read_prices
from rlparity.errors import UsageError, quoted
from rlparity.io.console import typed_command
from rlworldkit.cli.players import add_mode_flag
from rlworldkit.cli.runs import RUN, RunOptions, run_of, say_written
from rlworldkit.extras import install_package
from rlworldkit.program import Program
from rlworldkit.runs.folder import CONFIG, CURVE, read_saved_config, run_folder, saved_prices
from rlworldkit.sb3.config import RATES, MaskablePPOConfig
from rlworldkit.settings import add_flags, from_file, from_flags, given, saved_settings, setting

NEEDED = ("stable_baselines3", "sb3_contrib", "gymnasium")


@dataclass(frozen=True)
class TrainSB3Options(RunOptions):
    """Options of the command beyond the settings of MaskablePPO."""

    resume: Path | None = setting(
        None,
        "model to resume, in its own folder; its steps, schedules, evaluations and settings are kept, except settings "
        "that a flag changes",
        group=RUN,
        metavar="ZIP",
    )
    trust: bool = setting(
        False, "allow unpickling, which can run arbitrary code; needed to resume third-party models", group=RUN
    )
    device: str = setting("auto", "torch device: auto, cpu, cuda, mps", group=RUN)
    engine: str | None = setting(None, "engine to play on (default: the world's first)", group=RUN)
    models_dir: Path = setting(Path("models"), "parent folder of runs", group=RUN, flag="--checkpoint-dir")


def main(program: Program, argv: Sequence[str]) -> int:
    """Train; return 0, 1 if a file is not complete, or 130 if stopped before the first step."""
    description = "Train an agent with MaskablePPO of Stable-Baselines3."
    parser = program.parser("train-sb3", description, "Ctrl+C saves the run and prints the command that resumes it.")
    add_flags(parser, MaskablePPOConfig, TrainSB3Options)
    add_mode_flag(parser, program)
    add_price_flags(parser, lambda: program.world)
    arguments = parser.parse_args(argv)
    options = from_flags(arguments, TrainSB3Options)
    require_sb3()
    flags = from_file(MaskablePPOConfig, options.config) | given(arguments, MaskablePPOConfig)
    kept, prices, mode = _kept(program, options.resume)
    config = MaskablePPOConfig(**kept | flags).validated()
    world = program.world_of(arguments.mode or mode)
    world = world.with_prices(prices | read_prices(arguments.price, arguments.prices))
    if options.resume is None:
        if options.trust:
            raise UsageError("--trust goes with --resume: there is no file to trust.")
        config.rollouts_after()
    folder = _folder(options, config.seed)

    # Imported only now, so that a mistaken command line fails without waiting for torch.
    from rlworldkit.sb3.training import train

    run = run_of(program, options, folder, "MaskablePPO", stopping="this step", step="timesteps")
    if arguments.models_dir is not None and folder.parent.resolve() != options.models_dir.resolve():
        run.print_line(f"--checkpoint-dir has no effect: the run continues in {folder}.")
    with run.stop:
        trained = train(
            config,
            world,
            run,
            resume=options.resume,
            changes={name: value for name, value in flags.items() if name in config.ppo()},
            device=options.device,
            engine=options.engine,
            trust=options.trust,
            notes={"mode": world.name.removeprefix(f"{program.name}-")} if program.modes else {},
        )

    best = folder / "best_model.zip"
    outcome = "Stopped" if run.stop.requested else "Done"
    run.print_line(f"{outcome} after {trained.progress.timesteps:,} steps. Written:")
    files = (*trained.files, best, folder / CURVE)
    say_written(program, run, files, best if best.exists() else trained.files[-1])
    if run.stop.requested:
        run.print_line(f"Resume: {program.typed('train-sb3', '--resume', trained.files[-1])}")
    tensorboard = typed_command("tensorboard", "tensorboard.main", "--logdir", folder.parent)
    run.print_line(f"Compare runs: {tensorboard}")
    return 1 if run.writer.failing else 0


def require_sb3() -> None:
    """Raise UsageError, which tells what to install, if Stable-Baselines3 is missing."""
    if any(find_spec(name) is None for name in NEEDED):
        raise UsageError(f"This command needs Stable-Baselines3: run `{install_package('stable_baselines3')}`.")


def _kept(program: Program, resume: Path | None) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Read the settings, prices and mode of the run that a model belongs to, if its folder still has them."""
    if resume is None:
        return {}, {}, None
    # a rate that was a function is a text in these settings, and null in those of the model
    settings = read_saved_config(resume.parent)
    plain = {name: value for name, value in settings.items() if name not in RATES or not isinstance(value, str)}
    path = resume.parent / CONFIG
    mode = settings.get("mode") if program.modes else None
    if mode is not None and mode not in tuple(program.modes):
        raise UsageError(f"{path} keeps {quoted(mode)} as mode, which is none of {', '.join(program.modes)}.")
    return saved_settings(MaskablePPOConfig, plain, path), saved_prices(settings, path), mode


def _folder(options: TrainSB3Options, seed: int) -> Path:
    """Create the folder of a new run, or return the folder of the model to resume."""
    if options.resume is None:
        return run_folder(options.models_dir, "--checkpoint-dir", "sb3", seed, options.run_name)
    if not os.path.exists(options.resume):  # Path.exists raises for a name that no file can have
        raise UsageError(f"there is no MaskablePPO model {options.resume}: give a .zip file that training wrote.")
    if options.run_name is not None:
        raise UsageError("--run-name does not go with --resume: the run continues in the folder of its model.")
    return options.resume.parent
