"""Options of ``train``, and the training job that a command line describes."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlparity.core.prices import add_price_flags, changed_prices, read_prices
from rlparity.errors import UsageError
from rlparity.io.arguments import SEEDS, STEPS, FileName, FloatRange, IntRange, OneOf, Parser
from rlworldkit.cli.runs import LOGGING, RUN, RunOptions, run_of
from rlworldkit.jax import engine_backend
from rlworldkit.jax.engine_backend import jax_env_of
from rlworldkit.jax.xla import PARTS
from rlworldkit.ppo.config import (
    CPU,
    TrainConfig,
    auto_scale_for_batch_size,
    auto_tune_for_device,
    get_device_config,
    preset_of,
)
from rlworldkit.program import Program
from rlworldkit.runs.folder import LATEST, PRICES, run_folder, saved_prices
from rlworldkit.settings import add_flags, as_flags, from_file, given, saved_settings, setting

if TYPE_CHECKING:
    from rlworldkit.jax.env import JaxEnv
    from rlworldkit.ppo.checkpoints import Checkpoint
    from rlworldkit.ppo.loop import TrainJob
    from rlworldkit.ppo.params import InitialParams


_HOSTS = "several hosts"
_FIRST = (
    *("num_envs", "num_steps", "total_timesteps", "max_steps", "learning_rate", "gamma", "ent_coef", "network", "seed"),
    *("run_name", "checkpoint_dir", "no_wandb", "config", "preset", "resume", "init_from", "seeds", "auto_tune"),
    *("price", "variant"),
)
"""Common flags, which ``--help`` lists."""
PROCESSES, VMAP = "processes", "vmap"
"""Values of ``--seeds-mode``: how several seeds are trained."""
TRAINER = "masked PPO"


@dataclass(frozen=True)
class TrainOptions(RunOptions):
    """Options of the command beyond the settings of the trainer."""

    run_suffix: str | None = setting(
        None, "suffix of a run name made from time and seed", group=LOGGING, values=FileName(), metavar="TEXT"
    )
    save_interval_minutes: float = setting(
        10.0, "minutes between checkpoints", group=LOGGING, values=FloatRange(0, 1e6, above=True)
    )
    save_interval: int | None = setting(
        None, "updates between checkpoints, instead of minutes", group=LOGGING, values=STEPS
    )
    checkpoint_dir: Path = setting(Path("checkpoints"), "parent folder of the runs' folders", group=LOGGING)
    no_artifact: bool = setting(False, "do not upload checkpoints to W&B", group=LOGGING)
    dashboard: bool = setting(False, "serve a live web page of the training, with a stop button", group=LOGGING)
    resume: str | None = setting(
        None,
        "checkpoint to resume from: a `checkpoint_*.pkl`, or `latest`, the newest good one of the last started run in "
        "`--checkpoint-dir`",
        group=RUN,
        metavar="FILE",
    )
    init_from: Path | None = setting(
        None,
        "initial parameters, instead of random ones: a `params_*.npz`, or the name of an agent that comes with the "
        "world",
        group=RUN,
        metavar="FILE",
    )
    preset: str | None = setting(None, "named group of settings; `--config` and explicit flags override it", group=RUN)
    seeds: int | None = setting(
        None, "number of runs to train, with seeds `--seed`, `--seed` + 1, …", group=RUN, values=SEEDS
    )
    seeds_mode: str | None = setting(
        None,
        "how to train several seeds: `processes` gives each its own process (default on a CPU), `vmap` trains all in "
        "one compiled program (default on a GPU or TPU)",
        group=RUN,
        values=OneOf((PROCESSES, VMAP)),
    )
    rewind: bool = setting(False, "rewind the W&B history to the checkpoint of `--resume`", group=RUN)
    cpu_devices: int | None = setting(
        None, "number of devices to split the CPU into; they share its cores and the games", group=RUN, values=PARTS
    )
    engine_backend: str | None = setting(None, engine_backend.HELP, group=RUN, values=engine_backend.BACKENDS)
    auto_tune: bool = setting(False, "choose `--num-envs`, `--num-steps` and `--lr` for the device", group=RUN)
    distributed: bool = setting(False, "train in several processes, each started with this command", group=_HOSTS)
    coordinator: str | None = setting(
        None, "address of the first process, if JAX cannot detect it", group=_HOSTS, metavar="HOST:PORT"
    )
    num_processes: int | None = setting(
        None, "number of processes, if JAX cannot detect it", group=_HOSTS, values=IntRange(1, 2**16)
    )
    process_id: int | None = setting(
        None, "number of this process, from 0, if JAX cannot detect it", group=_HOSTS, values=IntRange(0, 2**16 - 1)
    )


def job_of(
    program: Program,
    arguments: argparse.Namespace,
    options: TrainOptions,
    *,
    is_first: bool = True,
    **outputs: Any,  # noqa: ANN401 - those of ``run_of``
) -> "TrainJob":
    """Build the training job that a command line describes, in a new folder or in that of the run it resumes.

    is_first: false for a process that neither writes nor prints, and has no folder. outputs: arguments of ``run_of``.
    Raises ParityError if something cannot be used.
    """
    from rlworldkit.ppo.loop import Saver, TrainJob

    env = jax_env_of(program.world)
    start, before, prices_before = _resumed(options, env), dict[str, Any](), dict[str, Any]()
    if start is not None:
        before = saved_settings(program.train_config, start.config, start.path)
        prices_before = saved_prices(start.config, start.path)
    config = config_of(program, arguments, options, before, platform=get_device_config().platform)
    prices = prices_of(program, arguments, prices_before)
    env = jax_env_of(program.world.with_prices(prices)) if prices else env
    initial = initial_of(program, options, config)
    folder = _folder_of(program, options, config, start) if is_first else None
    run = run_of(program, options, folder, TRAINER, upload=not options.no_artifact, rewind=options.rewind, **outputs)
    saver = Saver(options.save_interval, options.save_interval_minutes)
    return TrainJob(config, env, run, start, initial, saver, {PRICES: prices})


def initial_of(program: Program, options: TrainOptions, config: TrainConfig) -> "InitialParams | None":
    """Read the parameters that ``--init-from`` names; raises UsageError if they cannot be used."""
    if options.init_from is None:
        return None
    from rlworldkit.ppo.params import load_initial_params

    return load_initial_params(program.world.agent_at(options.init_from), config, jax_env_of(program.world))


def parser_of_train(program: Program) -> Parser:
    """Build the parser of the command."""
    kind = program.train_config
    presets = " ".join(f"--preset {name} is {_preset_text(kind, name)}." for name in kind.presets)
    parser = program.parser("train", "Train an agent on the JAX engine with masked PPO.", presets)
    add_flags(parser, kind, TrainOptions)
    add_price_flags(parser, lambda: program.world)
    text = "train a variant, with these prices of the reward, or the game's own if NAME stands alone; repeatable"
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=PRICE=VALUE,…", help=text)
    parser.show_first(*_FIRST)
    return parser


def _preset_text(kind: type[TrainConfig], name: str) -> str:
    """Format the flags that a preset stands for."""
    accelerated = as_flags(kind, kind.on_accelerator.get(name, {}))
    return as_flags(kind, preset_of(kind, name)) + (f", and {accelerated} on a GPU or TPU" if accelerated else "")


def without(words: Sequence[str], *flags: str) -> list[str]:
    """Remove these flags and their values from the words of a command line."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for flag in flags:
        parser.add_argument(f"--{flag}")
    return parser.parse_known_args(words)[1]


def check_company(options: TrainOptions, is_group: bool) -> None:
    """Raise UsageError for a flag that has no effect together with others, or without another."""
    if options.rewind and options.resume is None:
        raise UsageError("--rewind goes with --resume: name a checkpoint to rewind to.")
    if options.init_from is not None and options.resume is not None and not is_group:  # in a group: for new runs
        raise UsageError("--init-from does not go with --resume, which has parameters of its own: leave one out.")
    if options.seeds_mode is not None and not is_group:
        raise UsageError("--seeds-mode goes with --seeds or --variant: add one, or leave it out.")
    for flag, value in (("--run-name", options.run_name), ("--resume", options.resume)):
        if options.run_suffix is not None and value is not None:
            raise UsageError(f"--run-suffix does not go with {flag}: it is for names made from time and seed.")
    of_hosts = (options.coordinator, options.num_processes, options.process_id)
    if not options.distributed and any(value is not None for value in of_hosts):
        raise UsageError("--coordinator, --num-processes and --process-id go with --distributed: add it.")


def _resumed(options: TrainOptions, env: "JaxEnv") -> "Checkpoint | None":
    if options.resume is None:
        return None
    from rlworldkit.ppo.checkpoints import latest_checkpoint, read_checkpoint

    if options.resume != LATEST:
        return read_checkpoint(Path(options.resume), env)
    checkpoint, faults = latest_checkpoint(options.checkpoint_dir, env)
    for fault in faults:
        print(f"Passed over: {fault}", file=sys.stderr)
    return checkpoint


def config_of(
    program: Program,
    arguments: argparse.Namespace,
    options: TrainOptions,
    before: dict[str, Any],
    platform: str = CPU,
) -> TrainConfig:
    """Build the settings; flags override the file, then the preset, the checkpoint's settings and the defaults."""
    kind = program.train_config
    preset = preset_of(kind, options.preset, platform)
    flags = {**preset, **from_file(kind, options.config), **given(arguments, kind)}
    config = kind(**before | flags)
    if options.auto_tune:
        config = auto_tune_for_device(config, explicit=flags)
    is_same_batch = all(before.get(name) == getattr(config, name) for name in ("num_envs", "num_steps"))
    return (config if is_same_batch else auto_scale_for_batch_size(config, explicit=flags)).validated()


def prices_of(program: Program, arguments: argparse.Namespace, before: dict[str, Any]) -> dict[str, float]:
    """Prices that are not the world's own; those of the command line override those of the checkpoint."""
    prices = before | read_prices(arguments.price, arguments.prices)
    return changed_prices(program.world.with_prices(prices))


def _folder_of(program: Program, options: TrainOptions, config: TrainConfig, start: "Checkpoint | None") -> Path:
    """Create the folder of a new run, or return the folder of the checkpoint."""
    if start is not None:
        from rlworldkit.ppo.training import check_steps_left

        check_steps_left(config, start)  # before a new folder is created
        if not options.run_name:
            return start.path.parent
    parent, kind = options.checkpoint_dir, program.name
    return run_folder(parent, "--checkpoint-dir", kind, config.seed, options.run_name, options.run_suffix)
