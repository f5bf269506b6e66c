"""A run of one mode from start to end, with either engine: its files and its result."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import goodharts
from goodharts.config import Config, model_path
from goodharts.training.jobs import LOGS, MODELS, RUNS, WARM_UP_UPDATES, Job
from goodharts.training.torchrun import rank
from rlparity.errors import ParityError, UsageError, is_out_of_memory
from rlparity.io.strict_json import json_text
from rlworldkit.runs.folder import CURVE, locked, make_folder, move_aside
from rlworldkit.runs.live_state import Outcome
from rlworldkit.runs.run import Run
from rlworldkit.runs.sinks import CsvLog, Metrics
from rlworldkit.runs.stop import StopRequest
from rlworldkit.runs.wandb_run import Tracking

KINDS = ("updates.csv", "episodes.csv", "summary.json")
"""Endings of the names of a run's logs."""
EPISODE = ("step", "game", "length", "reward", "food", "poison", "terminated")
"""The columns of finished episodes; step: of the rollout, from 0."""
TakeEpisodes = Callable[[int, Iterable[Sequence[float]]], None]
"""Takes the number of an update, from 1, and the episodes that ended in it, with the columns ``EPISODE``."""
_COMPILERS = ("torch._dynamo", "torch._inductor")
"""The modules whose errors are those of ``torch.compile``."""


class RunResult(NamedTuple):
    """Result of a run, with a sentence for the user. files: the files that it wrote."""

    outcome: Outcome
    sentence: str
    files: tuple[str, ...] = ()
    is_complete: bool = True


class UpdatesLog(CsvLog):
    """``…_updates.csv``: the metrics of each update, and its rates."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.log("updates.csv"), "update", job.progress.updates)
        self._rates = job.config.training.rates

    def write(self, metrics: Metrics) -> None:
        """Write an update's row."""
        super().write({**metrics, **self._rates(int(metrics["update"]) - 1)._asdict()})


class EpisodesLog(CsvLog):
    """``…_episodes.csv``: the episodes that ended in each update."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.log("episodes.csv"), "update", job.progress.updates)
        self._config, self._rows = job.config, list[Metrics]()

    def take(self, update: int, episodes: Iterable[Sequence[float]]) -> None:
        """Take the episodes of an update, counted from 1, with the columns ``EPISODE``, before its metrics come."""
        self._rows = []
        for step, *values in sorted(episodes, key=lambda row: tuple(row[:2])):
            numbers = dict(zip(EPISODE[1:], values, strict=True))
            whole = {name: int(value) for name, value in numbers.items() if name != "reward"}
            timesteps = (update - 1) * self._config.batch_size + (int(step) + 1) * self._config.training.n_envs
            self._rows.append({"update": update, "timesteps": timesteps, **numbers, **whole})

    def write(self, metrics: Metrics) -> None:
        """Write the episodes of the update to which these metrics belong."""
        self.write_all(self._rows)


def train_job(
    job: Job,
    *,
    report: Callable[[Metrics], None] = lambda metrics: None,
    print_line: Callable[[str], None] = lambda line: None,
    stop: StopRequest | None = None,
) -> RunResult | None:
    """Train a mode until its updates are done or it is asked to stop; saves everything in both cases.

    Returns None where it is stopped before its first update is complete.

    It writes into the folders that ``reserved`` makes and locks. Where ``torchrun`` started several processes, each
    calls this, and only the first one writes. A run that resumes from an older checkpoint, which was put back, moves
    the later agent and logs to ``models/abandoned-N/``.

    report: takes the metrics of each update. print_line: takes lines for the user. stop: asks for an early end.

    Raises UsageError where the device is missing, the games cannot be shared, the network cannot be compiled, or the
    checkpoint is damaged, and TrainingDiverged where a loss is no longer a number.
    """
    is_first, rows, episodes = rank() == 0, list[Metrics](), EpisodesLog(job)

    def take(metrics: Metrics) -> None:
        rows.append(metrics)
        if is_first:
            report(metrics)

    run = Run(
        job.folder / RUNS / job.name if is_first and not job.is_benchmark else None,
        title=f"Goodharts, {job.mode}",
        tracking=Tracking("goodharts", upload=False) if job.is_on_wandb else None,
        stop=stop,
        report=take,
        sinks=(UpdatesLog(job), episodes),
        print_line=print_line,
    )
    with run, _telling_what_cannot_be_compiled():
        if run.folder:
            _keep_later(job, run)
        about = engine_of(job.config).train(job, run, episodes.take)
        if run.folder and rows:
            run.writer.write(job.log("summary.json"), _summary(job, rows[-1], about))
    return _result(job, rows, run, about)


def _summary(job: Job, row: Metrics, about: Mapping[str, Any]) -> bytes:
    summary = {
        "mode": job.mode,
        "name": job.name,
        "outcome": _outcome(job, row),
        "updates": job.config.training.updates,
        "update": row["update"],
        "timesteps": row["timesteps"],
        "last_update": row,
        **about,
        "versions": {"goodharts": goodharts.__version__, "rules": goodharts.RULES_VERSION} | about["versions"],
        "hyperparameters": job.config.plain(),
    }
    return (json_text(summary, indent=2) + "\n").encode()


def _outcome(job: Job, row: Metrics) -> Outcome:
    return "finished" if row["update"] == job.config.training.updates else "stopped"


def _keep_later(job: Job, run: Run) -> None:
    """Move aside the agent and the logs of later updates than the checkpoint from which a run resumes."""
    from goodharts.models import read_model  # torch takes seconds to import

    after, updates = job.progress.updates, 0
    with contextlib.suppress(ParityError):  # no agent can be read
        updates = read_model(job.model).update if after else 0
    if after < updates:
        aside = move_aside(job.folder / MODELS, (), (job.model, *map(job.log, KINDS)))
        run.print_line(f"This is a branch: the agent and the logs of later updates than {after:,} are in {aside}.")


def _result(job: Job, rows: Sequence[Metrics], run: Run, about: Mapping[str, Any]) -> RunResult | None:
    if not rows:
        return None
    warm = rows[WARM_UP_UPDATES:] if job.is_benchmark else rows[1:] or rows
    if not warm:
        return RunResult("stopped", f"{job.label}: stopped before it was warm; nothing is measured.")
    rate = f"{len(warm) / sum(1 / row['steps_per_second'] for row in warm):,.0f} steps/s"
    if job.is_benchmark:
        on = f"{about['network']['kind']} on {about['device']}"
        return RunResult("finished", f"{job.label}: {rate} with the {on} over {len(warm)} updates.")
    outcome, row = _outcome(job, rows[-1]), rows[-1]
    done = {"finished": "trained", "stopped": "stopped"}[outcome]
    sentence = f"{job.label}: {done} after update {row['update']:,}, {row['timesteps']:,} steps ({rate})."
    paths = [job.model, job.checkpoint, *map(job.log, KINDS)]
    paths += [run.folder, run.folder / CURVE] if run.folder else []
    files = tuple(str(path) for path in paths if path.exists())
    return RunResult(outcome, sentence, files, not run.writer.failing)


@contextlib.contextmanager
def reserved(modes: Sequence[str], folder: Path = Path()) -> Iterator[None]:
    """Make the folders, and lock the outputs of these modes against other trainers.

    Raises UsageError where a folder cannot be written to, or where another trainer is at work on one of the modes.
    """
    for name in (MODELS, LOGS, RUNS):
        make_folder(folder / name, "make room there, or train in another folder")
    with contextlib.ExitStack() as stack:
        for mode in modes:
            path = model_path(mode, folder / MODELS)
            refusal = f"Another process is training {path}: let it end first, or train in another folder."
            stack.enter_context(locked(path.parent, f"ppo_{mode}.lock", refusal))
        yield


def engine_of(config: Config) -> Any:  # noqa: ANN401 - a module
    """Import the module that trains with the engine of these settings, which takes seconds.

    ``check(config)`` raises UsageError where this engine cannot train with these settings on this machine.
    ``train(job, run, take_episodes)`` trains until the job's updates are done or the run is asked to stop, and saves.
    It passes the episodes of each update to ``take_episodes``, and returns the engine's part of ``_summary.json``:
    network, engine, device, precision, processes, versions. It raises UsageError as ``check`` does.
    """
    return import_module(f"goodharts.training.{config.training.engine}_ppo")


@contextlib.contextmanager
def _telling_what_cannot_be_compiled() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if error.__cause__ and is_out_of_memory(error.__cause__):
            raise error.__cause__ from None
        if type(error).__module__.startswith(_COMPILERS):
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise UsageError(f"torch.compile failed ({reason:.200}): leave --compile-mode out.") from None
        raise
