"""Run the trials of a sweep side by side: train with Optuna's suggestions, report to Optuna, and prune trials."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

import optuna
from optuna.trial import TrialState

from rlparity.errors import ParityError, UsageError
from rlworldkit.cli.group_plan import Group
from rlworldkit.jax.xla import available_cores
from rlworldkit.ppo.config import TrainConfig
from rlworldkit.ppo.params import params_path
from rlworldkit.program import Program
from rlworldkit.runs.folder import METRICS, locked, make_folder
from rlworldkit.runs.pool import last_value, train_many
from rlworldkit.runs.sinks import Metrics, read_csv
from rlworldkit.runs.stop import StopRequest
from rlworldkit.sweep.space import Sweep
from rlworldkit.sweep.study import (
    PARTS,
    Attribute,
    figure_of,
    folder_of,
    owner_of,
    postpone,
    running_trials,
    spent_share,
    take_up,
    write_toml,
)

MOST_FAILURES = 5
"""Number of failed trials in a row that ends a sweep."""


class Trials:
    """Runs the trials of a sweep on this machine until the budget is spent, or ``stop`` postpones them.

    say: takes lines for the user.
    """

    def __init__(
        self, program: Program, sweep: Sweep, study: optuna.Study, stop: StopRequest, say: Callable[[str], None]
    ) -> None:
        self._program, self._sweep, self._study, self._stop, self._say = program, sweep, study, stop, say
        self._owner = owner_of(sweep.folder)
        self._choosing, self._playing = threading.Lock(), threading.Lock()
        self._is_over, self._failures = False, 0

    def run(self) -> None:
        """Run the trials; raises ParityError if trials keep failing, or a trial's folder is of another study."""
        for name in take_up(self._study, self._owner):
            self._say(f"Goes on with {name}, which had not ended.")
            for run in (self._sweep.folder / name).glob("seed-*"):
                self._wait_for_end(run)
        for trial in running_trials(self._study):
            self._say(f"Trial {trial.number} is in another folder, where the same command resumes it.")
        with ThreadPoolExecutor(self._sweep.at_once) as pool:
            workers = [pool.submit(self._work) for _ in range(self._sweep.at_once)]
            try:
                wait(workers, return_when=FIRST_EXCEPTION)
            finally:
                self._is_over = True
        for worker in workers:
            worker.result()

    def _is_ending(self) -> bool:
        return self._is_over or self._stop.requested

    def _wait_for_end(self, run: Path) -> None:
        """Wait until a run whose parent was killed has saved and ended."""
        while not self._is_ending():
            try:
                with locked(run):
                    return
            except UsageError:
                time.sleep(0.25)

    def _work(self) -> None:
        while (chosen := self._next()) is not None:
            self._train(*chosen)

    def _next(self) -> tuple[optuna.Trial, TrainConfig] | None:
        """Ask for the next trial, charge it with all its steps, and return it with its settings; None at the end."""
        with self._choosing:
            while not self._is_ending() and spent_share(self._study, self._sweep.options) < 1:
                trial = self._study.ask(self._sweep.space)
                try:
                    config = self._sweep.config_of(trial.params)
                except UsageError as fault:
                    self._end(trial, str(fault))
                    continue
                folder = self._sweep.folder / folder_of(trial)
                if folder.exists() and Attribute.FOLDER not in trial.user_attrs:
                    self._study.tell(trial, state=TrialState.FAIL)  # else it would resume another's runs
                    raise UsageError(f"{folder} is of another study: name another --folder, or move it away.")
                trial.set_user_attr(Attribute.OWNER, self._owner)
                steps = config.num_updates * config.batch_size * self._sweep.options.seeds
                trial.set_user_attr(Attribute.STEPS, steps)
                return trial, config
        return None

    def _train(self, trial: optuna.Trial, config: TrainConfig) -> None:
        runs, options = _TrialRuns(self._program.module, self._sweep, trial, config), self._sweep.options
        train_many(
            runs.left,
            options.seeds,
            report=runs.take_row,
            ended=runs.take_result,
            should_stop=lambda: self._is_ending() or runs.is_hopeless or bool(runs.failures),
            environment={"WANDB_RUN_GROUP": self._study.study_name},
        )
        outcome = runs.outcome()
        if isinstance(outcome, float) and options.is_played and not self._is_ending():
            with self._playing:  # one at a time: the engine's programs use all cores of a share
                figures = [figure_of(self._program, options, str(agent)) for agent in runs.agents]
            outcome = sum(figures) / len(figures)
        runs.report()
        trial.set_user_attr(Attribute.STEPS, sum(int(rows[-1]["timesteps"]) for rows in runs.rows.values() if rows))
        if self._is_ending():
            postpone(self._study, trial)
        else:
            self._end(trial, outcome)

    def _end(self, trial: optuna.Trial, outcome: float | str | None) -> None:
        """Report the outcome to Optuna and the user: the objective, the fault, or None if the trial was pruned."""
        if isinstance(outcome, float) and not math.isfinite(outcome):
            outcome = "no episode has ended in the last tenth of its updates"
        if isinstance(outcome, str):
            self._study.tell(trial, state=TrialState.FAIL)
            self._say(f"Trial {trial.number} failed: {outcome}")
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                raise ParityError(f"{MOST_FAILURES} trials in a row have failed, the last: {outcome}")
            return
        self._failures = 0
        self._study.tell(trial, outcome, TrialState.PRUNED if outcome is None else None)
        done = "given up" if outcome is None else f"{outcome:.6g}"
        rounded = {name: f"{each:.4g}" if type(each) is float else each for name, each in trial.params.items()}
        params = ", ".join(f"{name} {value}" for name, value in rounded.items())
        share = spent_share(self._study, self._sweep.options)
        self._say(f"Trial {trial.number}: {done} with {params}; {share:.0%} of the budget.")


class _TrialRuns:
    """Runs of a trial, one for each seed.

    left: tasks that have not finished. agents: the path of each run's final agent. rows: the metrics of each run.
    failures: a sentence for each run that failed.
    """

    def __init__(self, module: str, sweep: Sweep, trial: optuna.Trial, config: TrainConfig) -> None:
        self._metric, self._trial, self._updates = sweep.metric, trial, config.num_updates
        self._began, self._cores = time.monotonic(), available_cores() / sweep.at_once
        self._reported, self.is_hopeless, self.failures = 0, False, list[str]()
        folder = sweep.folder / folder_of(trial)
        settings, prices = folder / "settings.toml", folder / "prices.toml"
        make_folder(folder, "choose another --folder")
        write_toml(settings, sweep.settings_of(trial.params))
        write_toml(prices, sweep.prices_of(trial.params))
        group = Group(config.seed, sweep.options.seeds, [], ["--config", str(settings), "--prices", str(prices)])
        (tasks,) = group.tasks(module, folder, is_resumed=True).values()
        self.agents = [params_path(task.folder, config.num_updates) for task in tasks]
        self.left = [task for task, agent in zip(tasks, self.agents, strict=True) if not agent.exists()]
        self.rows: dict[str, list[Metrics]] = {task.name: [*read_csv(task.folder / METRICS)] for task in tasks}

    def outcome(self) -> float | str | None:
        """Value of the metric that judges the trial, or NaN; a sentence if a run failed or stopped; None if pruned."""
        if self.is_hopeless:
            return None
        if self.failures:
            return self.failures[0]
        unfinished = next((agent.parent.name for agent in self.agents if not agent.exists()), None)
        return f"{unfinished} stopped" if unfinished else self._mean_until(self._updates)

    def _mean_until(self, update: float) -> float:
        """Mean over the runs of the metric that judges them, up to an update; NaN if a run has no value."""
        rows = [[row for row in of_run if row["update"] <= update] for of_run in self.rows.values()]
        return sum(last_value(of_run, self._metric) for of_run in rows) / len(rows) if self._metric else math.nan

    def take_row(self, row: Metrics, run: str) -> None:
        """Add a row of a run's metrics, and report to Optuna."""
        self.rows[run] = [*(before for before in self.rows[run] if before["update"] < row["update"]), row]
        self.report()

    def take_result(self, run: str, result: object) -> None:
        """Note the failure of a run, if its result is an exception."""
        if isinstance(result, Exception):
            self.failures.append(f"{run} failed: {result}")

    def report(self) -> None:
        """Report cost, and values of the parts that all runs have reached, to Optuna; ask it whether to prune."""
        self._trial.set_user_attr(Attribute.CORE_SECONDS, self._cores * (time.monotonic() - self._began))
        reached = min(rows[-1]["update"] if rows else 0 for rows in self.rows.values())
        while (part := self._reported + 1) <= PARTS * reached / self._updates:
            if math.isfinite(value := self._mean_until(part * self._updates / PARTS)):
                self._trial.report(value, part)
            self._reported = part
        self.is_hopeless = reached < self._updates and self._trial.should_prune()
