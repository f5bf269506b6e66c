"""``train``: train an agent on the world's JAX engine with masked PPO."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parity.arguments import ALL_STEPS, SEED, STEPS, FileName, FloatRange, IntRange, Parser
from parity.console import typed_command
from parity.errors import INTERRUPTED_EXIT_CODE, ParityError, UsageError
from parity.prices import add_price_flags, changed_prices, read_prices
from rlworldkit.cli.runs import LOGGING, RUN, RunOptions, run_of, say_written
from rlworldkit.cli.seeds import SEEDS, VARIANT, Group
from rlworldkit.cli.seeds import main as train_group
from rlworldkit.config_layers import from_file
from rlworldkit.game import Game
from rlworldkit.jax.xla import PARTS, enable_compilation_cache, of_parts, prefer_wide_vectors
from rlworldkit.ppo.config import TrainConfig, auto_scale_for_batch_size, auto_tune_for_device, preset_of
from rlworldkit.runs.folder import CONFIG, CURVE, LATEST, METRICS, fresh_run_name, run_folder
from rlworldkit.runs.processes import stop_with_input
from rlworldkit.runs.saved_config import PRICES, read_saved_config, saved_prices
from rlworldkit.settings import add_flags, as_flags, from_flags, given, saved_settings, setting

if TYPE_CHECKING:
    from rlworldkit.jax.env import JaxEnv
    from rlworldkit.ppo.checkpoints import Checkpoint
    from rlworldkit.ppo.params import InitialParams

_HOSTS = "several hosts"


@dataclass(frozen=True)
class TrainOptions(RunOptions):
    """Options of the command beyond the settings of the trainer."""

    run_suffix: str | None = setting(
        None, "appended to a name made from time and seed", group=LOGGING, values=FileName(), metavar="TEXT"
    )
    save_interval_minutes: float = setting(
        10.0, "minutes between checkpoints", group=LOGGING, values=FloatRange(0, 1e6, above=True)
    )
    save_interval: int | None = setting(
        None, "updates between checkpoints, instead of minutes", group=LOGGING, values=STEPS
    )
    checkpoint_dir: Path = setting(Path("checkpoints"), "where the run's folder goes", group=LOGGING, kind=Path)
    no_artifact: bool = setting(False, "do not upload checkpoints to W&B", group=LOGGING)
    resume: str | None = setting(
        None,
        "resume from this `checkpoint_*.pkl`, or from the `latest`: the furthest good one of the run in "
        "`--checkpoint-dir` that began last",
        group=RUN,
        kind=str,
        metavar="FILE",
    )
    init_from: Path | None = setting(
        None,
        "begin with the parameters of this `params_*.npz`, or of an agent that comes with the world, instead of "
        "random ones",
        group=RUN,
        kind=Path,
        metavar="FILE",
    )
    preset: str | None = setting(
        None, "settings that go together, by name; `--config` and flags go over them", group=RUN, kind=str
    )
    seeds: int | None = setting(
        None, "train so many runs, from seeds `--seed`, `--seed` + 1, …, each in a process", group=RUN, values=SEEDS
    )
    rewind: bool = setting(False, "with `--resume`: rewind the history on W&B to the checkpoint", group=RUN)
    cpu_devices: int | None = setting(
        None, "split the processor into so many devices, which share its cores and the games", group=RUN, values=PARTS
    )
    auto_tune: bool = setting(False, "fit games, steps and learning rate to the device", group=RUN)
    distributed: bool = setting(False, "train together with other processes, each started like this one", group=_HOSTS)
    coordinator: str | None = setting(
        None, "address of the first process, where JAX does not find it", group=_HOSTS, kind=str, metavar="HOST:PORT"
    )
    num_processes: int | None = setting(
        None, "how many processes, where JAX does not find out", group=_HOSTS, values=IntRange(1, 2**16)
    )
    process_id: int | None = setting(
        None, "this process's number from 0, where JAX does not find out", group=_HOSTS, values=IntRange(0, 2**16 - 1)
    )


def main(game: Game, argv: Sequence[str]) -> int:
    """Train; return 0, 1 if training failed or a file is not complete, or 130 if stopped before there were results."""
    arguments = _parser(game).parse_args(argv)
    options = from_flags(arguments, TrainOptions)
    prefer_wide_vectors()
    if options.cpu_devices is not None:
        os.environ.update(of_parts(options.cpu_devices))
    enable_compilation_cache(game.name)
    _check_company(options)
    if options.resume is None:
        # before anything imports JAX, for which a mistake should not have to wait
        config, prices = _config_of(game, arguments, options, {}), _prices_of(game, arguments, {})
    if options.seeds is not None or arguments.variant:
        return _train_group(game, argv, arguments, options)
    stop_with_input()
    is_first = _joined(options)
    assert game.train_env is not None
    env = game.train_env()
    start = _resumed(options, env)
    if start is not None:
        config = _config_of(game, arguments, options, saved_settings(game.train_config, start.config, start.path))
        prices = _prices_of(game, arguments, saved_prices(start.config, start.path))
    if (priced := game.with_prices(prices)) is not game and priced.train_env:
        env = priced.train_env()
    initial = None
    if options.init_from is not None:
        from rlworldkit.ppo.params import load_initial_params

        initial = load_initial_params(game.env().world.agent_at(options.init_from), config, env)
    folder = _folder_of(game, options, config, start) if is_first else None
    try:
        return _train(game, config, env, options, folder, start, initial, argv, prices)
    except ParityError as error:
        if isinstance(error, UsageError):
            raise
        print(error, file=sys.stderr)
        return 1


def _train_group(game: Game, argv: Sequence[str], arguments: argparse.Namespace, options: TrainOptions) -> int:
    """Train several runs; raises UsageError for flags that are those of a single one."""
    before: dict[str, Any] = {}
    if options.resume:
        for path in sorted(options.checkpoint_dir.rglob(CONFIG))[:1]:
            before = saved_settings(game.train_config, read_saved_config(path.parent), path)
    config, variants = _config_of(game, arguments, options, before), arguments.variant or ()
    if len({variant.name for variant in variants}) < len(variants):
        raise UsageError(f"each variant needs a name of its own, got {', '.join(each.name for each in variants)}.")
    for variant in variants:
        game.with_prices(read_prices(variant.prices, None)).env()
    for flag, value in (("--run-suffix", options.run_suffix), ("--distributed", options.distributed)):
        if value:
            raise UsageError(f"{flag} does not go with --seeds and --variant: leave it out.")
    if options.resume not in (None, LATEST):
        raise UsageError(f"--seeds resumes all of its runs: give --resume {LATEST} and the group's --checkpoint-dir.")
    last = config.seed + (options.seeds or 1) - 1
    if fault := SEED.fault(last):
        raise UsageError(f"the last seed {fault}, got {last}: give a lower --seed or fewer --seeds.")
    folder = options.checkpoint_dir
    if options.resume is None:
        folder /= options.run_name or f"{fresh_run_name(game.name, config.seed)}-to-{last}"
    return train_group(game, argv, config, Group(folder, range(config.seed, last + 1), variants, bool(options.resume)))


def _check_company(options: TrainOptions) -> None:
    """Raises UsageError for a flag that has no effect beside the others, or without another."""
    if options.rewind and options.resume is None:
        raise UsageError("--rewind goes with --resume: name a checkpoint to rewind to.")
    if options.init_from is not None and options.resume is not None:
        raise UsageError("--init-from does not go with --resume, which has parameters of its own: leave one out.")
    for flag, value in (("--run-name", options.run_name), ("--resume", options.resume)):
        if options.run_suffix is not None and value is not None:
            raise UsageError(f"--run-suffix does not go with {flag}: it is for names made from time and seed.")
    of_hosts = (options.coordinator, options.num_processes, options.process_id)
    if not options.distributed and any(value is not None for value in of_hosts):
        raise UsageError("--coordinator, --num-processes and --process-id go with --distributed: add it.")


def _parser(game: Game) -> Parser:
    kind = game.train_config
    parser = Parser(
        prog=f"{game.name} train",
        description="Train an agent on the JAX engine with masked PPO.",
        epilog=" ".join(f"--preset {name} is {as_flags(kind, of)}." for name, of in kind.presets.items()),
        allow_abbrev=False,
    )
    add_flags(parser, kind, TrainOptions)
    add_price_flags(parser)
    parser.add_argument(
        "--variant",
        type=VARIANT,
        action="append",
        metavar="NAME=PRICE:VALUE,…",
        help=f"train with other prices of the reward from the same seeds; repeatable ({VARIANT.span()})",
    )
    return parser


def _joined(options: TrainOptions) -> bool:
    """Join the other processes, if there are any; return whether this is the first."""
    if not options.distributed:
        return True
    number, processes = options.process_id, options.num_processes
    if number is not None and processes is not None and number >= processes:
        raise UsageError(f"--process-id {number} must be below --num-processes, which is {processes}.")
    from rlworldkit.ppo import parallel

    parallel.join_processes(options.coordinator, options.num_processes, options.process_id)
    return parallel.is_first_process()


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


def _config_of(game: Game, arguments: argparse.Namespace, options: TrainOptions, before: dict[str, Any]) -> TrainConfig:
    """The flags given, over the file, over the preset, over the settings of the checkpoint, over the defaults."""
    kind = game.train_config
    flags = {**preset_of(kind, options.preset), **from_file(kind, options.config), **given(arguments, kind)}
    config = kind(**before | flags)
    if options.auto_tune:
        config = auto_tune_for_device(config, explicit=flags)
    is_same_batch = all(before.get(name) == getattr(config, name) for name in ("num_envs", "num_steps"))
    return (config if is_same_batch else auto_scale_for_batch_size(config, explicit=flags)).validated()


def _prices_of(game: Game, arguments: argparse.Namespace, before: dict[str, Any]) -> dict[str, float]:
    """Those that are not the game's own, of the command line over those of the checkpoint."""
    prices = before | read_prices(arguments.price, arguments.prices)
    return changed_prices(game.with_prices(prices).env().world) if prices else {}


def _folder_of(game: Game, options: TrainOptions, config: TrainConfig, start: "Checkpoint | None") -> Path:
    """A new run's folder, or the one that the checkpoint lies in."""
    if start is not None:
        from rlworldkit.ppo.training import check_steps_left

        check_steps_left(config, start)  # before there is a new folder
        if not options.run_name:
            return start.path.parent
    parent, kind = options.checkpoint_dir, game.name
    return run_folder(parent, "--checkpoint-dir", kind, config.seed, options.run_name, options.run_suffix)


def _train(
    game: Game,
    config: TrainConfig,
    env: "JaxEnv",
    options: TrainOptions,
    folder: Path | None,
    start: "Checkpoint | None",
    initial: "InitialParams | None",
    argv: Sequence[str],
    prices: dict[str, float],
) -> int:
    """Train; without a folder, as one of the processes that neither write nor speak."""
    from rlworldkit.ppo.loop import SavePlan
    from rlworldkit.ppo.training import train
    from rlworldkit.runs.console import print_nothing_to_save

    run = run_of(
        game,
        options,
        folder,
        "masked PPO",
        stopping="the current chunk",
        upload=not options.no_artifact,
        rewind=options.rewind,
    )
    plan = SavePlan(options.save_interval, options.save_interval_minutes)
    if options.preset:
        preset = game.train_config.presets[options.preset]
        run.print_line(f"Preset {options.preset}: {as_flags(game.train_config, preset)}")
    is_named = options.checkpoint_dir != TrainOptions.checkpoint_dir and options.resume not in (None, LATEST)
    if folder is not None and is_named and folder.parent.resolve() != options.checkpoint_dir.resolve():
        run.print_line(f"--checkpoint-dir has no effect: the run continues in {folder}.")
    with run.stop, run:
        trained = train(config, env, run, start=start, initial=initial, save_plan=plan, notes={PRICES: prices})
    if trained.progress.updates == trained.since.updates:
        print_nothing_to_save(run.console)
        return INTERRUPTED_EXIT_CODE
    if folder is None:
        return 0
    steps = trained.progress.timesteps - trained.since.timesteps
    seconds = trained.progress.seconds - trained.since.seconds
    run.print_line(
        f"Trained {steps:,} steps in {seconds:.1f} s ({steps / seconds:,.0f} steps/s), "
        f"after {trained.compile_seconds:.1f} s of compiling."
    )
    files = (*trained.files, *(folder / name for name in (METRICS, CURVE, CONFIG)))
    say_written(game, run, files, trained.files[-1])
    longer = 10 * config.total_timesteps
    if run.stop.requested:
        run.print_line(f"Resume: {typed_command(game.name, game.module, 'train', '--resume', trained.files[0])}")
    elif start is None and longer <= ALL_STEPS.most:  # a resumed run's settings are not in its command line
        run.print_line(f"Next, a run ten times as long: {next_command(game, argv, longer)}")
    return 1 if run.writer.failing else 0


def next_command(game: Game, given: Sequence[str], total_timesteps: int) -> str:
    """The command for a longer run with the same settings under a new name, as it can be typed here."""
    replaced = argparse.ArgumentParser(add_help=False, allow_abbrev=True)
    for flag in ("--total-timesteps", "--run-name", "--resume"):
        replaced.add_argument(flag)
    replaced.add_argument("--rewind", action="store_true")
    _, other_flags = replaced.parse_known_args(given)
    return typed_command(game.name, game.module, "train", *other_flags, "--total-timesteps", str(total_timesteps))
